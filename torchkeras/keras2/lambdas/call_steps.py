"""Instructions that import, ask for attributes, call, and make functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from torchkeras.keras2.lambdas import calls
from torchkeras.keras2.lambdas.calls import operation
from torchkeras.keras2.lambdas.expression import Argument, Call, Inner, made
from torchkeras.keras2.lambdas.instructions import Instruction
from torchkeras.keras2.lambdas.limits import Refused
from torchkeras.keras2.lambdas.list_steps import ListSteps
from torchkeras.keras2.lambdas.marshalled import Code
from torchkeras.keras2.lambdas.names import ERRORS, IGNORED, SPECIAL, Module, Named, imported, of_module
from torchkeras.keras2.lambdas.opcodes import since
from torchkeras.keras2.lambdas.tensorflow_functions import TYPES
from torchkeras.keras2.lambdas.values import (
    NULL,
    Cell,
    Frame,
    Function,
    Iterator,
    Method,
    Own,
    OwnList,
    described,
    frozen,
)

LARGEST = ("values", "indices")  # of tf.nn.top_k, by name


class CallSteps(ListSteps):
    """Modules, attributes, calls and functions inside."""

    def import_name(self, frame: Frame, instruction: Instruction) -> None:
        level, names = frame.pop_many(2)
        if level not in (0, -1):
            raise Refused("an import from its own package")
        frame.stack.append(imported(instruction.argument, names))

    def import_from(self, frame: Frame, instruction: Instruction) -> None:
        self._load(frame, frame.peek(1), instruction.argument)

    def load_attr(self, frame: Frame, instruction: Instruction) -> None:
        is_method = since(frame.version, "3.12") and instruction.number & 1
        self._load(frame, frame.pop(), instruction.argument)
        if is_method:
            self._with_null(frame)

    def load_method(self, frame: Frame, instruction: Instruction) -> None:
        self._load(frame, frame.pop(), instruction.argument)
        self._with_null(frame)

    def _with_null(self, frame: Frame) -> None:
        value = frame.pop()
        frame.stack += [value, NULL] if since(frame.version, "3.13") else [NULL, value]

    def _load(self, frame: Frame, value: Any, name: str) -> None:
        if isinstance(value, Module):
            frame.stack.append(of_module(value, name, self.tensorflow))
        elif name in ("append", "extend") and any(value is each for each in frame.lists):
            frame.stack.append(Method(value, name))
        elif calls.is_step(value):
            self._load_of_step(frame, value, name)
        elif isinstance(value, OwnList) and name in ("append", "extend"):
            frame.stack.append(Method(self._own_list(frame, value), name))
        else:
            raise Refused(f"the attribute {name!r} of {described(value)}")

    def _load_of_step(self, frame: Frame, value: Any, name: str) -> None:
        if name == "value":  # of a Dimension of TensorFlow 1
            frame.stack.append(value)
            return
        if isinstance(value, Call) and value.operation == "tf.nn.top_k" and name in LARGEST:
            self._operate(frame, "[]", value, LARGEST.index(name))
            return
        found, is_method = calls.attribute(value, name)
        if is_method:
            frame.stack.append(Method(value, name))
        else:
            self._operate(frame, found, value)

    def apply(self, frame: Frame, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Push what a call gives."""
        frame.stack.append(self._applied(frame, function, arguments, keywords))

    def _applied(self, frame: Frame, function: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        self.budget.spend(len(arguments) + len(keywords))
        if isinstance(function, Function):
            return self.call(function, arguments, keywords, frame.depth + 1)
        if isinstance(function, Own):
            return calls.own_call(function.name, arguments, keywords, self.budget)
        if isinstance(function, Method):
            return self._of_method(frame, function, arguments, keywords)
        if isinstance(function, Named):
            given = [list(self._items(each)) if isinstance(each, Iterator) else each for each in arguments]
            return self._of_named(frame, function.name, given, keywords)
        raise Refused(f"a call of {described(function)}")

    def _of_named(self, frame: Frame, name: str, arguments: list[Any], keywords: Mapping[str, Any]) -> Any:
        """What a call of a function of Python, NumPy, Keras or TensorFlow gives, by its name on the closed list."""
        if name in IGNORED:
            return None
        if name in ERRORS:
            return made(Call, "raise", tuple(each for each in arguments[:1] if isinstance(each, str)))
        given, named = _each(_plain, arguments, keywords)
        if name in SPECIAL:
            return self._special(frame, name, given, named)
        if name in calls.BY_FUNCTIONS:
            given, named = _each(partial(self._forced, frame), given, named)
        if name in calls.BY_ELEMENTS:
            given, named = _each(partial(self._inner, frame, count=calls.BY_ELEMENTS[name]), given, named)
        if name == "list" and not named and not any(map(calls.is_step, given)):
            return OwnList(self._items(given[0]) if given else (), frame.owner)
        return self._made_list(frame, operation(name, given, named, self.budget))

    @staticmethod
    def _made_list(frame: Frame, found: Any) -> Any:
        """What a call gives; if that is a list, the function may change it."""
        if isinstance(found, Call) and found.operation == "list":
            frame.lists.append(found)
        return found

    def _special(self, frame: Frame, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        if name == "isinstance":
            if len(arguments) != 2 or keywords:
                raise Refused("isinstance of other than two")
            return calls.is_instance(arguments[0], arguments[1], self.budget)
        condition, first, second = calls.by_phase(name, arguments, keywords)
        if not calls.is_step(condition):
            return self._forced(frame, first if condition else second)
        return calls.chosen(condition, self._forced(frame, first), self._forced(frame, second))

    def _forced(self, frame: Frame, value: Any) -> Any:
        """What a function without arguments gives; another value as it is."""
        return self.call(value, (), {}, frame.depth + 1) if isinstance(value, Function) else value

    def _inner(self, frame: Frame, value: Any, count: int) -> Any:
        """A function of `count` arguments as a step; another value as it is."""
        if not isinstance(value, (Function, Named, Own)):
            return value
        given = value.code.variables[:count] if isinstance(value, Function) else ()
        names = []
        for place in range(count):
            name = given[place] if place < len(given) else f"value_{place + 1}"
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            names.append(name)
        result = self._applied(frame, value, [made(Argument, name) for name in names], {})
        return made(Inner, tuple(names), frozen(result))

    def _of_method(self, frame: Frame, method: Method, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        if method.name in calls.OF_ARRAYS:
            return operation(calls.OF_ARRAYS[method.name], (method.owner, *arguments), keywords, self.budget)
        if calls.is_step(method.owner) and method.name in calls.METHODS:
            if arguments or keywords:
                raise Refused(f"{method.name} with arguments")
            return self._made_list(frame, operation(calls.METHODS[method.name], (method.owner,), {}, self.budget))
        if len(arguments) != 1 or keywords:
            raise Refused(f"{method.name} of {len(arguments)} arguments")
        self._lengthen(frame, method, arguments[0])
        return None

    def _lengthen(self, frame: Frame, method: Method, given: Any) -> None:
        """`append` and `extend` of a list."""
        items = [given] if method.name == "append" else self._items(given)
        if calls.is_step(method.owner):
            self._replace(frame, method.owner, operation("+", (method.owner, list(items)), {}, self.budget))
            return
        for item in items:
            self._append(method.owner, item)

    def call_function(self, frame: Frame, instruction: Instruction) -> None:
        if frame.version in ("2.7", "3.4"):
            self._old_call(frame, instruction, (), {})
            return
        arguments = frame.pop_many(instruction.number)
        self.apply(frame, frame.pop(), arguments, {})

    def call_function_var(self, frame: Frame, instruction: Instruction) -> None:
        keywords = frame.pop() if instruction.name.endswith("KW") else {}
        rest = self._items(frame.pop()) if "VAR" in instruction.name else ()
        if not isinstance(keywords, dict):
            raise Refused("keywords that are not known")
        self._old_call(frame, instruction, rest, keywords)

    def _old_call(self, frame: Frame, instruction: Instruction, rest: Sequence[Any], keywords: Any) -> None:
        count, named = instruction.number & 255, instruction.number >> 8
        flat = frame.pop_many(2 * named)
        arguments = [*frame.pop_many(count), *rest]
        self.apply(frame, frame.pop(), arguments, {**self._mapping(flat[::2], flat[1::2]), **keywords})

    def call_function_kw(self, frame: Frame, instruction: Instruction) -> None:
        if frame.version in ("2.7", "3.4"):
            self.call_function_var(frame, instruction)
            return
        arguments, keywords = self._by_names(frame, frame.pop(), instruction.number)
        self.apply(frame, frame.pop(), arguments, keywords)

    def _by_names(self, frame: Frame, names: Any, count: int) -> tuple[list[Any], dict[str, Any]]:
        values = frame.pop_many(count)
        if not isinstance(names, tuple) or len(names) > count:
            raise Refused("keywords without their names")
        place = count - len(names)
        return values[:place], self._mapping(names, values[place:])

    def call_function_ex(self, frame: Frame, instruction: Instruction) -> None:
        keywords = frame.pop() if instruction.number & 1 or since(frame.version, "3.14") else NULL
        arguments = self._items(frame.pop())
        function = frame.pop()
        if since(frame.version, "3.13"):
            function = frame.pop() if function is NULL else function
        elif frame.code.layout == "3.11" and frame.pop() is not NULL:
            raise Refused("a call without its function")
        keywords = {} if keywords is NULL else keywords
        if not isinstance(keywords, dict):
            raise Refused("keywords that are not known")
        self.apply(frame, function, arguments, keywords)

    def call_method(self, frame: Frame, instruction: Instruction) -> None:
        arguments = frame.pop_many(instruction.number)
        self._new_call(frame, arguments, {})

    def kw_names(self, frame: Frame, instruction: Instruction) -> None:
        frame.keywords = instruction.argument

    def call_new(self, frame: Frame, instruction: Instruction) -> None:
        names, frame.keywords = frame.keywords, ()
        if instruction.name == "CALL_KW":
            names = frame.pop()
        arguments, keywords = self._by_names(frame, names, instruction.number)
        self._new_call(frame, arguments, keywords)

    def _new_call(self, frame: Frame, arguments: list[Any], keywords: Mapping[str, Any]) -> None:
        """A call whose function lies next to an empty place, or below its first argument."""
        below, above = frame.pop_many(2)
        if below is NULL:
            self.apply(frame, above, arguments, keywords)
        else:
            self.apply(frame, below, arguments if above is NULL else [above, *arguments], keywords)

    # --- functions inside --------------------------------------------------------------------------------------------

    def make_function(self, frame: Frame, instruction: Instruction) -> None:
        version = frame.version
        if version != "2.7" and frame.code.layout != "3.11":
            frame.pop()  # its full name
        code = frame.pop()
        if version in ("2.7", "3.4"):
            function = self._by_counts(frame, instruction, code)
        elif not since(version, "3.13"):
            function = _by_flags(frame, instruction.number, code)
        else:  # SET_FUNCTION_ATTRIBUTE adds the rest
            function = _function(code, (), {}, ())
        frame.stack.append(function)

    def _by_counts(self, frame: Frame, instruction: Instruction, code: Any) -> Function:
        """A function whose instruction counts its defaults, as up to Python 3.5."""
        number = instruction.number
        cells = frame.pop() if instruction.name == "MAKE_CLOSURE" else ()
        if number >> 16:
            raise Refused("a function with annotations")
        flat = frame.pop_many(2 * (number >> 8))
        keyword_defaults = self._mapping(flat[::2], flat[1::2])
        return _function(code, tuple(frame.pop_many(number & 255)), keyword_defaults, cells)

    def set_function_attribute(self, frame: Frame, instruction: Instruction) -> None:
        value, function = frame.pop_many(2)
        if not isinstance(function, Function):
            raise Refused("an attribute of what is no function")
        parts = [function.defaults, function.keyword_defaults, None, function.cells]
        places = {1: 0, 2: 1, 4: 2, 8: 3, 16: 2}
        if instruction.number not in places:
            raise Refused(f"the attribute {instruction.number} of a function")
        parts[places[instruction.number]] = value
        frame.stack.append(_function(function.code, parts[0], parts[1], parts[3]))


def _each(
    change: Callable[[Any], Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, each changed."""
    return [change(each) for each in arguments], {name: change(each) for name, each in keywords.items()}


def _plain(value: Any) -> Any:
    """A type of NumPy's by its name; another value as it is."""
    is_type = isinstance(value, Named) and value.name.startswith("np.") and value.name[3:] in TYPES
    return value.name[3:] if is_type else value


def _by_flags(frame: Frame, flags: int, code: Any) -> Function:
    """A function whose instruction has a bit for each part on the stack, as from Python 3.6 to 3.12."""
    cells = frame.pop() if flags & 8 else ()
    if flags & 4:
        frame.pop()  # annotations
    keyword_defaults = frame.pop() if flags & 2 else {}
    defaults = frame.pop() if flags & 1 else ()
    return _function(code, defaults, keyword_defaults, cells)


def _function(code: Any, defaults: Any, keyword_defaults: Any, cells: Any) -> Function:
    is_closed = isinstance(cells, tuple) and all(isinstance(cell, Cell) for cell in cells)
    fits = isinstance(defaults, tuple) and isinstance(keyword_defaults, dict) and is_closed
    if not isinstance(code, Code) or not fits:
        raise Refused("a function without its code, defaults or shared variables")
    return Function(code, tuple(map(calls.frozen_list, defaults)), keyword_defaults, cells)
