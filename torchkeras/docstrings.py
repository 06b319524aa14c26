"""Docstrings of classes, completed with what their bases say of the options that they share.

A docstring explains options in a section of its own, an entry an option, or several that belong together:

    Options:
        units (positive integer): the size of the last axis of the output.
        use_bias (bool, default True): whether a bias is added.
        height, width (integers): the size of the output.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache

SECTIONS = ("Options", "Arguments")
_SECTION = re.compile(rf"^( *)(?:{'|'.join(SECTIONS)}):\n((?:\1    .*(?:\n|\Z))+)", re.MULTILINE)
_ENTRY = re.compile(r"^( *)(\w+(?:, \w+)*) \(.*(?:\n\1 .*)*", re.MULTILINE)
_NEXT = re.compile(r"^( *)(?:Shapes|Errors|Example|Source):", re.MULTILINE)


@cache
def entries(text: str) -> Mapping[str, str]:
    """What a docstring says of each option: the option's name, and the lines of its entry without their indent."""
    section = _SECTION.search(text)
    found = {}
    for entry in _ENTRY.finditer(section[2]) if section else ():
        lines = entry[0].split("\n")
        for name in entry[2].split(", "):
            found[name] = "\n".join(line[len(entry[1]) :] for line in lines)
    return found


def complete(cls: type, names: Collection[str]) -> str | None:
    """The docstring of a class with the entries of its bases for those of the options `names` that it leaves out.

    The entries stand in the order of `names`.
    """
    text = cls.__dict__.get("__doc__")
    if text is None:
        return None
    own = entries(text)
    bases = [entries(base.__doc__) for base in cls.__mro__[1:] if base.__doc__ and "\n" in base.__doc__]
    known = {**own}
    for name in names:
        inherited = next((base[name] for base in bases if name in base), None)
        if inherited is not None:
            known.setdefault(name, inherited)
    if len(known) == len(own):
        return text
    ordered = list(dict.fromkeys(known[name] for name in (*names, *own) if name in known))
    section, following = _SECTION.search(text), _NEXT.search(text)
    if section:
        return text[: section.start(2)] + _indented(ordered, section[1] + "    ") + text[section.end() :]
    indent = following[1] if following else ""
    place = following.start() if following else len(text.rstrip()) + 1
    head = text[:place].rstrip(" ") if following else f"{text.rstrip()}\n\n"
    return f"{head}{indent}Options:\n{_indented(ordered, indent + '    ')}\n{text[place:]}"


def _indented(blocks: list[str], indent: str) -> str:
    return "".join(f"{indent}{line}\n" for block in blocks for line in block.split("\n"))
