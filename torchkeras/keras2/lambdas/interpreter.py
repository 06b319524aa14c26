"""Reads a stored function as a formula: its instructions, one by one, over a closed list of what they may do.

Values are numbers and texts that are known, and steps of the formula. An instruction that is not a method of
`Interpreter` refuses the function. A branch whose condition is known is taken; at another one both ways are read, each
to its end, and the result is a choice. Nothing here imports, calls or looks up anything of the file's by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torchkeras.keras2.lambdas import calls
from torchkeras.keras2.lambdas.branch_steps import BranchSteps
from torchkeras.keras2.lambdas.call_steps import CallSteps
from torchkeras.keras2.lambdas.instructions import Instruction, decoded
from torchkeras.keras2.lambdas.limits import DEPTH, Refused
from torchkeras.keras2.lambdas.list_steps import OPERATORS, UNARY
from torchkeras.keras2.lambdas.steps import Returned
from torchkeras.keras2.lambdas.values import Frame, Function, Iterator
from torchkeras.keras2.lambdas.variable_steps import VariableSteps

_NOTHING = frozenset(
    ("NOP", "RESUME", "CACHE", "PRECALL", "MAKE_CELL", "COPY_FREE_VARS", "GEN_START", "SETUP_ANNOTATIONS", "END_FOR")
) | {"NOT_TAKEN", "EXTENDED_ARG"}


class Interpreter(VariableSteps, BranchSteps, CallSteps):
    """Reads one stored function."""

    def call(self, function: Function, arguments: Sequence[Any], keywords: Mapping[str, Any], depth: int = 0) -> Any:
        """What a function gives for these arguments."""
        if depth > DEPTH:
            raise Refused(f"calls in calls, over {DEPTH} deep")
        if function.code.flags & calls.GENERATOR and function.code.name != "<genexpr>":
            raise Refused("a generator")
        variables = calls.frame_variables(function, arguments, keywords)
        cells = calls.frame_cells(function, variables)
        version, instructions = decoded(function.code)
        self.budget.spend(len(instructions))
        return self.run(Frame(function.code, version, instructions, variables, cells, depth))

    def run(self, frame: Frame) -> Any:
        """Read the instructions of a frame to the end of its function."""
        while True:
            self.budget.spend()
            if not 0 <= frame.place < len(frame.instructions):
                raise Refused("it runs over its end")
            instruction = frame.instructions[frame.place]
            frame.place += 1
            if instruction.name in _NOTHING:
                continue
            step = _STEPS.get(instruction.name)
            if step is None:
                raise Refused(f"the instruction {instruction.name} of Python {frame.version}")
            try:
                step(self, frame, instruction)
            except Returned as returned:
                return Iterator(tuple(frame.made)) if frame.code.flags & calls.GENERATOR else returned.value


_BINARY = {f"{kind}_{name}": Interpreter.binary for kind in ("BINARY", "INPLACE") for name in OPERATORS}
_STEPS: Mapping[str, Callable[[Interpreter, Frame, Instruction], None]] = {
    **{name: step for name, step in _BINARY.items() if name != "INPLACE_SUBSCR"},
    **dict.fromkeys(UNARY, Interpreter.unary),
    **dict.fromkeys(("ROT_TWO", "ROT_THREE", "ROT_FOUR", "ROT_N"), Interpreter.rotate),
    **dict.fromkeys(("DUP_TOP", "DUP_TOP_TWO", "DUP_TOPX"), Interpreter.duplicate),
    **dict.fromkeys(("SLICE+0", "SLICE+1", "SLICE+2", "SLICE+3"), Interpreter.old_slice),
    **dict.fromkeys(("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE"), Interpreter.pop_jump),
    **dict.fromkeys(("POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE"), Interpreter.pop_jump_if_none),
    **dict.fromkeys(("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP"), Interpreter.jump_or_pop),
    **dict.fromkeys(("CALL_FUNCTION_VAR", "CALL_FUNCTION_VAR_KW"), Interpreter.call_function_var),
    **dict.fromkeys(("CALL", "CALL_KW"), Interpreter.call_new),
    **dict.fromkeys(("MAKE_FUNCTION", "MAKE_CLOSURE"), Interpreter.make_function),
    **dict.fromkeys(("DICT_MERGE", "DICT_UPDATE"), Interpreter.dict_merge),
    "COMPARE_OP": Interpreter.compare,
    **{
        name.upper(): getattr(Interpreter, name)
        for name in [
            "binary_op",
            "binary_slice",
            "break_loop",
            "build_const_key_map",
            "build_list",
            "build_map",
            "build_slice",
            "build_tuple",
            "call_function",
            "call_function_ex",
            "call_function_kw",
            "call_intrinsic_1",
            "call_method",
            "contains_op",
            "copy",
            "delete_fast",
            "for_iter",
            "get_iter",
            "import_from",
            "import_name",
            "is_op",
            "jump",
            "kw_names",
            "list_append",
            "list_extend",
            "list_to_tuple",
            "load_common_constant",
            "load_attr",
            "load_closure",
            "load_const",
            "load_deref",
            "load_fast",
            "load_fast_and_clear",
            "load_fast_load_fast",
            "load_global",
            "load_method",
            "pop_block",
            "pop_top",
            "push_null",
            "raise_varargs",
            "return_const",
            "return_generator",
            "return_value",
            "set_function_attribute",
            "setup_loop",
            "store_deref",
            "store_fast",
            "store_fast_load_fast",
            "store_fast_store_fast",
            "store_map",
            "store_subscr",
            "swap",
            "to_bool",
            "unpack_sequence",
            "yield_value",
        ]
    },
}
