"""Docstrings of the package as griffe, which mkdocstrings asks, reads them: options become rows of a table."""

import inspect
import re
import sys
from typing import Any

from griffe import Class, Extension, Function, Parameter, ParameterKind, Parameters

from torchkeras.base import docstrings

WORDS = {"Options": "Args", "Arguments": "Args", "Errors": "Raises", "Example": "Examples"}
HEADING = re.compile(rf"^({'|'.join(WORDS)}):$", re.MULTILINE)
SECTION = re.compile(rf"^(?:{'|'.join(docstrings.SECTIONS)}):\n((?: {{4}}.*(?:\n|\Z))+)", re.MULTILINE)
KIND = re.compile(r"^\w+(?:, \w+)* \((.*?)(?:,? default .*?)?\): ", re.DOTALL)
RETURNS = re.compile(r"^Returns:\n((?: {4}.*(?:\n|\Z))+)", re.MULTILINE)
SOURCE = re.compile(r"^Source: .*(?:\n.+)*", re.MULTILINE)
URL = re.compile(r"https?://\S*[^\s.,;)]")
STAR = re.compile(r"`[^`]*`|\*")
KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: ParameterKind.positional_only,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ParameterKind.positional_or_keyword,
    inspect.Parameter.VAR_POSITIONAL: ParameterKind.var_positional,
    inspect.Parameter.KEYWORD_ONLY: ParameterKind.keyword_only,
    inspect.Parameter.VAR_KEYWORD: ParameterKind.var_keyword,
}


class Options(Extension):
    """The words of this package's docstrings in Google's, and the options of classes as their signature has them."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_google(obj.docstring.value)

    def on_class(self, *, cls: Class, **_: Any) -> None:
        """griffe looks for `__init__` in the class itself; options are declared as fields, or by a base."""
        made_by = getattr(sys.modules.get(cls.module.path), cls.name, None)
        if not isinstance(made_by, type):  # a class in a class
            return
        try:
            found = inspect.signature(made_by)
        except ValueError:  # a class of C without a signature
            return
        parameters = Parameters(Parameter("self"), *(_parameter(each) for each in found.parameters.values()))
        lines = {"lineno": cls.lineno, "endlineno": cls.endlineno}  # the source that is shown is the whole class's
        cls.set_member("__init__", Function("__init__", parameters=parameters, **lines))


def as_google(text: str) -> str:
    text, example, rest = text.partition("\nExample:\n")
    text = STAR.sub(lambda found: "\\*" if found[0] == "*" else found[0], text) + example + rest  # of formulas: b**2
    text = SOURCE.sub(lambda found: URL.sub(r"<\g<0>>", found[0]), text)  # a link
    text = RETURNS.sub(lambda found: f"Returns:\n    {' '.join(found[1].split())}\n", text)  # a line is a result
    text = SECTION.sub(lambda found: f"Args:\n{_rows(found[0])}", text)
    return HEADING.sub(lambda found: f"{WORDS[found[1]]}:", text)


def _rows(section: str) -> str:
    """An entry for each option, also of those that the docstring explains together; the signature has the default."""
    rows = []
    for name, entry in docstrings.entries(section).items():
        # griffe would take words with commas for a tuple
        row = KIND.sub(lambda found, name=name: f"{name} ({found[1].replace(', ', ' or ')}): ", entry, count=1)
        rows.append(f"    {' '.join(row.split())}\n")
    return "".join(rows)


def _parameter(parameter: inspect.Parameter) -> Parameter:
    default = None if parameter.default is parameter.empty else repr(parameter.default)
    return Parameter(parameter.name, kind=KINDS[parameter.kind], default=default)
