"""Functions that no honest Lambda has: each is refused by a typed error, within the limits."""

import base64
import json
import lzma
import marshal
import random
import struct
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
import torch

import torchkeras
from torchkeras.errors import ForbiddenContentError, ModelFileError
from torchkeras.keras2.lambdas.formula import Formula
from torchkeras.keras2.lambdas.formula_data import formula_from
from torchkeras.keras2.lambdas.instructions import _SAME
from torchkeras.keras2.lambdas.interpreter import _NOTHING, _STEPS
from torchkeras.keras2.lambdas.opcodes import NAMES
from torchkeras.keras2.lambdas.reading import formula_of
from torchkeras.layers import Lambda

GOLDEN = Path(__file__).parents[2] / "golden" / "lambdas"
CODES = json.loads(lzma.decompress((GOLDEN / "codes.json.xz").read_bytes()))


def read(code: bytes | CodeType, **config: Any) -> Formula:
    """The formula of code. A test expects that this refuses it."""
    data = marshal.dumps(code) if isinstance(code, CodeType) else code
    return formula_of("function", {"name": "h", "function": [data, None, None], **config}, {})


# --- names and operations --------------------------------------------------------------------------------------------

SOURCES = [
    *("open('/etc/passwd')", "__import__('os').system('true')", "eval('1')", "exec('1')", "compile('1', '', 'eval')"),
    *(
        "globals()",
        "locals()",
        "vars()",
        "getattr(x, 'shape')",
        "setattr(x, 'a', 1)",
        "type(x)",
        "object()",
    ),
    *("input()", "breakpoint()", "os.system('true')", "subprocess.run('true')", "sys.exit()", "unknown(x)", "exit()"),
    *(
        "K.__class__",
        "K.__builtins__",
        "K.__dict__",
        "K.__loader__",
        "K.tf.__builtins__",
        "tf.__dict__",
        "np.__loader__",
    ),
    *("().__class__", "''.__class__.__mro__", "(1).__class__", "x.__class__", "x.__dict__", "x.__reduce__()"),
    *("K.mean.__globals__", "K.mean.__code__", "len.__self__", "(lambda: 0).__globals__", "(lambda: 0).__code__"),
    *("tf.py_func(x, [x], 'float32')", "tf.py_function(x)", "tf.numpy_function(x)", "tf.load_op_library('a')"),
    *("tf.io.read_file('a')", "tf.gfile.GFile('a')", "tf.read_file('a')", "tf.Session()", "tf.contrib", "tf.print(x)"),
    *("np.load('a')", "np.fromfile('a')", "np.save('a', x)", "np.ctypeslib", "np.lib", "np.memmap('a')", "np.f2py"),
    *("K.get_session()", "K.function([x], [x])", "K.eval(x)", "K.get_value(x)", "K.set_value(x, x)", "K.placeholder()"),
    *(
        "keras.utils.get_file('a', 'b')",
        "keras.models.load_model('a')",
        "tf.keras.models",
        "math.__loader__",
        "keras.os",
    ),
    *("x.numpy()", "x.eval()", "x.graph", "x.op", "x.consumers()", "x.append(1)", "x.set_shape((1,))", "x.device"),
    *("[].__init__()", "[].sort()", "[].__reduce__()", "'a'.join([])", "'{0.__class__}'.format(x)", "'a'.encode()"),
    *("f'{x}'", "f'{1:>1000000000}'", "'%1000000000d' % 1", "b'a'", "1j", "{1, 2}", "{**x}", "{1: 2}"),
    *("(0,) * 10**9", "[0] * 10**9", "'a' * 10**9", "10 ** 10 ** 9", "2 ** 100", "1 << 10**9", "10**19 * 10**19"),
    *("(0,) * 9999 * 9999", "('a' * 9999) * 9999", "range(10**9)", "list(range(10**9))", "[0 for i in range(10**9)]"),
    *("sum([[0] * 5000] * 5000, [])", "1 / 0", "1 // 0", "1 % 0", "(1,)[5]", "{'a': 1}['b']", "len(1)", "int('a')"),
    *("max()", "(-8) ** 0.5", "0 ** -1", "x(1)", "K(1)", "[i for i in x]", "[*x]", "K.mean(*x)"),
    *(
        "K.mean(**x)",
        "(yield)",
        "(yield x)",
        "(yield 1)",
        "(lambda: (yield))()",
    ),
    *(
        "[b for b in (1, x.shape) for c in b]",
        "(lambda f: f(f))(lambda f: f(f))",
        "K.map_fn(lambda: 1, x)",
        "K.map_fn(K.get_value, x)",
        "K.map_fn(lambda t: K.map_fn, x)",
    ),
    *("K.mean", "K", "len", "lambda: x", "(lambda y: y)", "[len]", "K.mean(len)", "isinstance(x, object)"),
    *(
        "sorted(x, key=len)",
        "min(x, key=len)",
        "map(len, x)",
        "filter(None, x)",
        "iter(x)",
        "next(iter((1,)))",
        "id(x)",
    ),
    *("x.shape.__class__", "x.get_shape().__class__", "x.shape.fget", "K.int_shape(x).count(1)", "hash(x)", "dir(x)"),
    *(
        "del_",
        "memoryview(x)",
        "bytearray(10**9)",
        "bytes(10**9)",
        "super()",
        "staticmethod(len)",
        "__name__",
        "__file__",
    ),
]


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_not_on_the_list_is_refused(source: str):
    with pytest.raises(ForbiddenContentError):
        read(eval(f"lambda x: {source}").__code__)


STATEMENTS = [
    "while True: pass",
    "while x is not None: x = x * 2",
    "for i in range(10**6): pass\n    return x",
    "for i in range(9000):\n        for j in range(9000): pass\n    return x",
    "t = (x,)\n    for i in range(60): t = (t, t)\n    return t",
    "t = (x,)\n    for i in range(60): t = t + t\n    return t",
    "t = x\n    for i in range(100000): t = (t,)\n    return t",
    "t = [x]\n    t.append(t)\n    return t",
    "t = [x]\n    for i in range(10**6): t.append(x)\n    return t",
    "y = x\n    for i in range(400): y = y * 2\n    return y",
    "n = 3\n    for i in range(200): n = n * n\n    return x * n",
    "s = 'a'\n    for i in range(60): s = s + s\n    return s",
    "".join(f"if x.shape[{i}] > 1: x = x * 2\n    " for i in range(40)) + "return x",
    "def g(y): return g(y)\n    return g(x)",
    "import os\n    return os.system('true')",
    "from os import system\n    return system('true')",
    "import keras.utils\n    return keras.utils",
    "from tensorflow import py_func\n    return py_func",
    "import numpy.ctypeslib as c\n    return c",
    "from numpy import load\n    return load",
    "with x: return x",
    "raise ValueError(x)",
    "assert False, x\n    return x",
    "e = ValueError\n    raise e(x) from x",
    "s = list(x)\n    t = (s, 1)\n    s[0] = 2\n    return t[0]",
    "s = list(x)\n    def g(t): t[0] = 1\n    g(s)\n    return s",
    "s = list(x)\n    def g(): s[0] = 1\n    g()\n    return s",
    "s = [1]\n    s[5] = 1\n    return x",
    "s = [1]\n    s[0] = s\n    return x",
    "s = (1, 2)\n    s[0] = 2\n    return x",
    "global g\n    g = x\n    return x",
    "x[0] = 1\n    return x",
    "x.shape = 1\n    return x",
    "del x.shape\n    return x",
    "class C: pass\n    return C()",
    "a, *b = x\n    return a",
    "def g(*, a): return a\n    return g(x)",
    "def g(**k): return k\n    return g(a=x)",
    "t = []\n    def g(): t.append(x)\n    g()\n    return t[0]",
    "n = 1\n    def g():\n        nonlocal n\n        n = 2\n        return n\n    return x * g()",
]


@pytest.mark.parametrize("body", STATEMENTS)
def test_statements_that_are_not_on_the_list_are_refused(body: str):
    scope: dict[str, Any] = {}
    exec(f"def f(x):\n    {body}", scope)  # noqa: S102  (it makes the function, and does not call it)
    with pytest.raises(ForbiddenContentError):
        read(scope["f"].__code__)


def test_an_error_is_raised_where_the_branch_is_taken():
    scope: dict[str, Any] = {}
    exec("def f(x):\n    if K.ndim(x) != 2:\n        raise ValueError('no rows')\n    return x", scope)  # noqa: S102
    found = read(scope["f"].__code__)
    assert str(found) == "raise('no rows') if K.ndim(x) != 2 else x"
    assert found(torch.ones(1, 2)).tolist() == [[1.0, 1.0]]
    with pytest.raises(ValueError, match=r"^no rows$"):
        found(torch.ones(2))


# --- instructions ----------------------------------------------------------------------------------------------------


def text(value: str) -> bytes:
    return b"z" + bytes([len(value)]) + value.encode()


def small(*parts: bytes) -> bytes:
    return b")" + bytes([len(parts)]) + b"".join(parts)


def function(code: bytes, layout: str, constants: bytes = small(b"N"), names: tuple[str, ...] = ("K",)) -> bytes:
    """A marshalled function of one argument, `x`."""
    named, empty = small(*(text(name) for name in names)), small()
    if layout == "2.7":
        py2 = b"(" + struct.pack("<i", 1) + b"t" + struct.pack("<i", 1) + b"x"
        nothing, word = b"(" + struct.pack("<i", 0), b"s" + struct.pack("<i", 1) + b"f"
        numbers = struct.pack("<4i", 1, 1, 9, 67)
        body = b"s" + struct.pack("<i", len(code)) + code
        none = b"(" + struct.pack("<i", 1) + b"N"
        return b"c" + numbers + body + none + py2 + py2 + nothing * 2 + word * 2 + struct.pack("<i", 1) + word
    numbers = (1, 0, 1, 9, 67) if layout == "3.4" else (1, 0, 0, 1, 9, 67) if layout == "3.8" else (1, 0, 0, 9, 3)
    head = b"c" + struct.pack(f"<{len(numbers)}i", *numbers) + b"s" + struct.pack("<i", len(code)) + code
    lines = b"s" + struct.pack("<i", 0)
    if layout == "3.11":
        kinds = b"s" + struct.pack("<i", 1) + b"\x20"
        return head + constants + named + small(text("x")) + kinds + text("f") * 3 + struct.pack("<i", 1) + lines * 2
    return head + constants + named + small(text("x")) + empty * 2 + text("f") * 2 + struct.pack("<i", 1) + lines


LAYOUT = {"2.7": "2.7", "3.4": "3.4", "3.6": "3.4", "3.8": "3.8", "3.11": "3.11", "3.12": "3.11", "3.13": "3.11"}
UNKNOWN = [
    (version, number, name)
    for version in LAYOUT
    for number, name in NAMES[version].items()
    if _SAME.get(name, name) not in _STEPS and name not in _NOTHING
]


@pytest.mark.parametrize(("version", "number", "name"), UNKNOWN)
def test_every_other_instruction_is_refused(version: str, number: int, name: str):
    code = bytes([number, 0, 0]) if version in ("2.7", "3.4") and number >= 90 else bytes([number])
    if version == "3.13":
        code = bytes([149, 0, number, 0, 36, 0])
    else:
        code = code + b"\x53" if version in ("2.7", "3.4") else bytes([number, 0, 83, 0])
    with pytest.raises(ForbiddenContentError):
        read(function(code, LAYOUT[version]))


def test_the_instruction_is_named():
    with pytest.raises(ForbiddenContentError, match=r"^the instruction IMPORT_STAR of Python 3\.6$"):
        read(function(bytes([84, 0, 83, 0]), "3.4"))


@pytest.mark.parametrize("name", [b"", b"1", b"a b", b"class"])
def test_arguments_have_names(name: bytes):
    code = function(bytes([124, 0, 83, 0]), "3.4").replace(small(text("x")), small(text(name.decode())), 1)
    with pytest.raises(ForbiddenContentError, match="arguments without names of their own"):
        read(code)


def test_a_function_of_its_argument_alone_is_read():
    assert str(read(function(bytes([124, 0, 83, 0]), "3.4"))) == "x"
    assert str(read(function(bytes([124, 0, 0, 83]), "3.4"))) == "x"  # Python 3.5
    assert str(read(function(bytes([124, 0, 0, 83]), "2.7"))) == "x"
    assert str(read(function(bytes([151, 0, 124, 0, 83, 0]), "3.11"))) == "x"


@pytest.mark.parametrize(
    "code",
    [
        *(b"", b"\x7c", b"\x7c\x00", b"\x01\x00\x53\x00", b"\x53\x00", b"\x7c\x05\x53\x00", b"\x64\x05\x53\x00"),
        *(
            b"\x71\x00",
            b"\x71\x02\x71\x00",
            b"\x71\xff\x53\x00",
            b"\x6e\x00\x6e\x00",
            b"\x90\xff\x90\xff\x90\xff\x90\xff",
        ),
        *(
            b"\x64\x00\x5d\x00\x53\x00",
            b"\x57\x00\x53\x00",
            b"\x50\x00\x53\x00",
            b"\x83\xff\x53\x00",
            b"\x66\xff\x53\x00",
        ),
        *(
            b"\x64\x00\x84\x00\x53\x00",
            b"\x87\x00\x53\x00",
            b"\x88\x00\x53\x00",
            b"\x5c\xff\x53\x00",
            b"\x02\x00\x53\x00",
        ),
    ],
)
def test_code_that_goes_nowhere_is_refused(code: bytes):
    with pytest.raises(ForbiddenContentError):
        read(function(code, "3.4"))


# --- data ------------------------------------------------------------------------------------------------------------

WHOLE = base64.b64decode(CODES["3.7"]["euclidean"][0])
DAMAGED = [
    *(b"", b"c", b"N", b"i\x00\x00\x00\x00", b")\x00", b"\xa9\x01r\x00\x00\x00\x00", b"r\x00\x00\x00\x00"),
    *(b"(" + struct.pack("<i", 2**31 - 1), b"(" + struct.pack("<i", -1), b"s" + struct.pack("<i", 2**31 - 1)),
    *(
        b")\x01" * 5000 + b"N",
        b"[\x01\x00\x00\x00" * 5000,
        b"{" * 5000,
        b"<\xff\xff\xff\x7f",
        b"l" + struct.pack("<i", 2**30),
    ),
    *(
        b"S",
        b"0",
        b"T" * 100,
        b"R\x00\x00\x00\x00",
        b"t\xff\xff\xff\xff",
        b"u\x01\x00\x00\x00\xff",
        b"f\x03abc",
        b"g\x00",
    ),
    function(bytes([124, 0, 83, 0]), "3.4") + b"more",
    function(bytes([124, 0, 83, 0]), "3.4", constants=b"\xa9\x01r\x00\x00\x00\x00"),
    function(bytes([124, 0, 83, 0]), "3.4", constants=b"i\x00\x00\x00\x00"),
    function(bytes([100, 0, 83, 0]), "3.4", constants=small(b"l" + struct.pack("<i", 2**20) + b"\x01" * 2**21)),
    function(bytes([100, 0, 83, 0]), "3.4", constants=small(b"y" + b"\x00" * 16)),
    function(bytes([100, 0, 83, 0]), "3.4", constants=small(b"[" + struct.pack("<i", 0))),
    # Tuples that hold an earlier one twice: 2 ** 40 parts in 300 bytes.
    function(
        bytes([100, 0, 83, 0]),
        "3.4",
        constants=small(
            *[
                b"\xa9\x02NN",
                *(b"\xa9\x02" + b"r" + struct.pack("<i", k) + b"r" + struct.pack("<i", k) for k in range(40)),
            ][::-1]
        ),
    ),
    *(WHOLE[:cut] for cut in range(1, len(WHOLE), 17)),
]


@pytest.mark.parametrize("data", DAMAGED)
def test_damaged_data_are_refused(data: bytes):
    with pytest.raises(ForbiddenContentError):
        read(data)


@pytest.mark.parametrize("stored", [[], {}, [1], ["a", 1], ["a", [], 1], [None, None, None], [[]], "", 5, None, ["é€"]])
def test_other_forms_are_refused(stored: Any):
    with pytest.raises(ForbiddenContentError):
        formula_of("function", {"name": "h", "function": stored}, {})


def test_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    code = base64.b64encode(marshal.dumps(eval("lambda x: open('marker', 'w')").__code__)).decode()
    with pytest.raises(ForbiddenContentError, match="the name 'open', which is not known here"):
        Lambda.from_config({"name": "h", "function": [code, None, None], "function_type": "lambda"})
    assert list(tmp_path.iterdir()) == []


X = {"argument": "x"}


@pytest.mark.parametrize(
    "data",
    [
        *(None, [], {}, {"parameters": [], "steps": []}, {"parameters": ["x"], "steps": 5, "result": 1}),
        *({"parameters": ["x"], "steps": [X], "result": {"step": k}} for k in (1, -1, 10**9, "0", None)),
        *({"parameters": name, "steps": [X], "result": 1} for name in ("x", [1], ["a b"], ["x", ""])),
        *(
            {"parameters": ["x"], "steps": [X, {"call": name, "arguments": []}], "result": {"step": 1}}
            for name in ("open", "os.system", "K.__class__", "torch.load", "own __import__('os')", 5, "", "K")
        ),
        *(
            {"parameters": ["x"], "steps": [step], "result": 1}
            for step in ({}, [], 5, {"argument": "y"}, {"choice": [1]})
        ),
        *(
            {"parameters": ["x"], "steps": [X], "result": value}
            for value in ({}, {"a": 1}, {"tuple": 5}, {"float": "1"}, 2**70)
        ),
        {"parameters": ["x"], "steps": [X] * 6000, "result": 1},
        {
            "parameters": ["x"],
            "steps": [X, *({"call": "negative", "arguments": [{"step": k}]} for k in range(200))],
            "result": 1,
        },
        *(
            {"parameters": ["x"], "steps": [X, {"argument": "y"}, *steps], "result": {"step": result}}
            for steps, result in (
                ([{"function": ["y"], "result": {"step": 1}}], 1),
                ([{"function": ["y"], "result": 1}] * 2, 0),
                ([{"function": ["y", "x"], "result": 1}], 0),
                ([{"function": "y", "result": 1}], 0),
                ([{"function": ["y"], "result": 1, "more": 1}], 0),
            )
        ),
        {"parameters": ["x"], "steps": [X, {"call": "own f", "arguments": []}], "result": {"step": 1}},
    ],
)
def test_formulas_of_another_form_are_refused(data: Any):
    with pytest.raises(ForbiddenContentError):
        formula_from(data, "h", {})


@pytest.mark.parametrize(
    "source",
    [
        "K.reshape(x, (7, 7))",
        "x[:, 9, 9]",
        "K.concatenate([x, x[0]])",
        "x['a']",
        "x == x",
        "'%s' % x",
        "x[x > 0]",
        "-x.shape",
    ],
)
def test_a_formula_that_fails_is_refused_when_the_model_is_built(source: str):
    with pytest.raises(ModelFileError):
        model_of(source)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("K.foldl(lambda a, b: a, K.zeros((10**9,)))", "a loop over 1000000000 elements; 100000 is the most"),
        (
            "K.foldl(lambda a, b: K.foldl(lambda c, d: c + d + b, K.zeros((1000,))), K.zeros((1000,)))",
            "it takes more than 100000 steps",
        ),
    ],
)
def test_loops_are_limited(source: str, error: str):
    with pytest.raises((ForbiddenContentError, ModelFileError), match=error):
        model_of(source)


def model_of(source: str) -> torchkeras.Model:
    """A model with a Lambda of this function of x."""
    code = base64.b64encode(marshal.dumps(eval(f"lambda x: {source}").__code__)).decode()
    config = {"name": "h", "function": [code, None, None], "function_type": "lambda", "batch_input_shape": [None, 4]}
    return torchkeras.models.model_from_config(
        {"class_name": "Sequential", "config": [{"class_name": "Lambda", "config": config}]}
    )


def test_the_text_of_a_formula_is_short():
    twice = "(lambda y: (lambda z: (lambda w: w + w)(z + z))(y + y))"
    found = model_of(f"(lambda f: f(f(f(f(f(f(f(f(f(x))))))))))({twice}) if K.ndim(x) == 2 else x")
    assert len(str(found.layers[-1].function)) < 10_000


def mutated(data: bytes, random_: random.Random) -> bytes:
    """The data with some bytes changed, left out or doubled."""
    found = bytearray(data)
    for _ in range(random_.choice((1, 1, 2, 5, 20))):
        place = random_.randrange(len(found))
        found[place : place + random_.choice((0, 1, 1, 1, 2))] = random_.randbytes(random_.choice((0, 1, 1, 1, 2)))
    return bytes(found)


def run_mutated(count: int, seed: int) -> int:
    """Read damaged code, and compute the formulas that it still is; returns how many these are."""
    random_, read_well = random.Random(seed), 0
    codes = [code for version in CODES.values() for code in version.values()]
    for _ in range(count):
        code, defaults, closure = random_.choice(codes)
        try:
            data = mutated(base64.b64decode(code), random_)
            found = formula_of("function", {"name": "h", "function": [data, defaults, closure]}, {})
            read_well += 1
            found(torch.empty(2, 4, 4, 3, device="meta"), **dict.fromkeys(found.parameters[1:]))
        except ForbiddenContentError:
            continue
        except (ValueError, AssertionError):  # of a formula that does not fit its input; the latter by torch 2.10
            continue
    return read_well


def test_mutated_code_neither_crashes_nor_hangs():
    assert run_mutated(2000, seed=0) > 100
