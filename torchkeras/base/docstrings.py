"""Docstrings of classes, completed with what their bases say of the options that they share.

A docstring explains options in a section of its own, an entry an option, or several that belong together:

    Options:
        units (positive integer): the size of the last axis of the output.
        use_bias (bool, default True): whether a bias is added.
        height, width (integers): the size of the output.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from inspect import Parameter
from typing import Any

SECTIONS = ("Options", "Arguments")
_SECTION = re.compile(rf"^( *)(?:{'|'.join(SECTIONS)}):\n((?:\1    .*(?:\n|\Z))+)", re.MULTILINE)
_ENTRY = re.compile(r"^( *)(\w+(?:, \w+)*) \(.*(?:\n\1 .*)*", re.MULTILINE)
_DEFAULT = re.compile(r", default .*?(?=\): )", re.DOTALL)
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


def complete(
    cls: type, names: Collection[str], defaults: Mapping[str, Any] | None = None, others: Iterable[str | None] = ()
) -> str | None:
    """The docstring of a class with entries for those of the options `names` that it leaves out, in that order.

    An entry comes from `others`, further docstrings, or else from the nearest base that has one. What `defaults` holds
    for an option replaces the default that its entry says: `Parameter.empty` is none.
    """
    text = cls.__dict__.get("__doc__")
    text = text.text if isinstance(text, Completed) else text
    if text is None:
        return None
    own = entries(text)
    texts = [*others, *(base.__doc__ for base in cls.__mro__[1:])]
    inherited = _inherited([name for name in names if name not in own], texts, defaults or {})
    if not inherited:
        return text
    known = {**own, **inherited}
    return _with_options(text, list(dict.fromkeys(known[name] for name in (*names, *own) if name in known)))


def _inherited(names: Iterable[str], texts: Iterable[str | None], defaults: Mapping[str, Any]) -> dict[str, str]:
    """The entry of each of these options in the first docstring that has one; `defaults` replaces its default."""
    bases = [entries(text) for text in texts if text and "\n" in text]
    found = {}
    for name in names:
        entry = next((base[name] for base in bases if name in base), None)
        if entry is not None:
            found[name] = _with_default(entry, defaults[name]) if name in defaults else entry
    return found


def _with_options(text: str, blocks: list[str]) -> str:
    """A docstring with these entries in its section of options; if it has none, that goes before the next section."""
    section, following = _SECTION.search(text), _NEXT.search(text)
    if section:
        return text[: section.start(2)] + _indented(blocks, section[1] + "    ") + text[section.end() :]
    if following:
        indent, place = following[1], following.start()
        head = text[:place].rstrip(" ")
    else:
        indent, place = "", len(text.rstrip()) + 1
        head = f"{text.rstrip()}\n\n"
    return f"{head}{indent}Options:\n{_indented(blocks, indent + '    ')}\n{text[place:]}"


def complete_when_read(cls: type, made: Callable[[type], str | None]) -> None:
    """Let `made` complete the docstring of a class, if it has one, when it is first read: no import needs it."""
    if cls.__doc__:
        cls.__doc__ = Completed(cls.__doc__, made)  # type: ignore[assignment]


class Completed:
    """In the place of a class's docstring: `text`, which `made` completes for the class when it is first read."""

    def __init__(self, text: str, made: Callable[[type], str | None]):
        self.text, self.made = text, made

    def __get__(self, instance: Any, owner: type) -> str | None:
        owner.__doc__ = self.made(owner)
        return owner.__doc__


def _with_default(entry: str, default: Any) -> str:
    """An entry that says this default in the place of its own."""
    return _DEFAULT.sub(lambda _: _default_text(default), entry, count=1)


def _default_text(default: Any) -> str:
    if default is Parameter.empty:
        return ""
    return f', default "{default}"' if isinstance(default, str) else f", default {default!r}"


def _indented(blocks: list[str], indent: str) -> str:
    return "".join(f"{indent}{line}\n" for block in blocks for line in block.split("\n"))
