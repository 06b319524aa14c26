"""Write docs/keras3_names.md: which public names of Keras 3.15 are here, and what differs.

    python scripts/keras3_names.py [--check]

`tests/golden/keras-3.15-names.tsv` has the names with their arguments, as genuine Keras 3.15 on torch shows them.
"""

import argparse
import inspect
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from torchkeras import keras3
from torchkeras.keras3.differences import LACKING

ROOT = Path(__file__).parent.parent
NAMES = ROOT / "tests/golden/keras-3.15-names.tsv"
PAGE = ROOT / "docs/keras3_names.md"
ANY = {"args", "kwargs", "layer_options", "options", "given", "further", "older"}  # arguments of any name
REFUSED = "Refused"  # the first word of the docstring of what is here to say what to use instead
HEAD = """# The names of Keras 3.15

Made by `scripts/keras3_names.py`: each public name of Keras 3.15 on torch, looked up in `torchkeras.keras3`. Of {all}
names {same} take the same arguments, {other} take others, and {missing} are left out.
"""


def found(name: str) -> Any:
    """The object of a name: `keras.layers.Dense`. Raises AttributeError if there is none."""
    here: Any = keras3
    for part in name.split(".")[1:]:
        here = getattr(here, part)
    return here


def arguments(text: str) -> dict[str, str]:
    """Arguments and defaults of a signature as text: `(units, activation=None)`."""
    parts, depth, quoted = [""], 0, False
    for letter in text.strip()[1:-1]:
        quoted ^= letter == "'"
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    pairs = (part.strip().partition("=") for part in parts if part.strip())
    return {name.lstrip("*"): default for name, _, default in pairs}


def taken(value: Any) -> dict[str, str] | None:
    """The arguments that an object takes, with defaults; None where it takes any."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    return {
        each.name: "" if each.default is each.empty else repr(each.default) for each in signature.parameters.values()
    }


def difference(value: Any, there: dict[str, str]) -> str:
    """What differs in the arguments; empty for nothing."""
    refused = keras3_lacking(value)
    if refused:
        return "; ".join(refused)
    here = taken(value)
    if here is None:
        return ""
    lacking = [name for name in there if name not in here and name not in ANY]
    if ANY.isdisjoint(here) and lacking:
        return f"without {', '.join(lacking)}"
    ours = [name for name in here if name in there]
    if ours != [name for name in there if name in here]:
        return f"another order: {', '.join(ours)}"
    return ""


def keras3_lacking(value: Any) -> list[str]:
    """The options of a layer that must be what they are by default."""
    lacking = LACKING.get(getattr(value, "__name__", ""), {}) if inspect.isclass(value) else {}
    return [f"{name} must be {' or '.join(map(repr, each.allowed))}" for name, each in lacking.items() if each.instead]


def missing(error: AttributeError) -> str:
    """Why a name is left out, as the error says it."""
    instead = re.search(r"Instead: (.*)\.$", str(error))
    return instead[1] if instead else "not here yet"


def rows() -> list[tuple[str, str, str]]:
    """(name, "same" | "other" | "missing", what) of each name."""
    made = []
    for line in NAMES.read_text().splitlines():
        name, signature = line.split("\t")
        try:
            value = found(name)
        except AttributeError as error:
            made.append((name, "missing", missing(error)))
            continue
        if (inspect.getdoc(value) or "").startswith(REFUSED):
            made.append((name, "missing", "refused by an error that says what to use"))
            continue
        what = difference(value, arguments(signature))
        made.append((name, "other" if what else "same", what))
    return made


def page() -> str:
    """The whole text."""
    made = rows()
    counts = {kind: sum(each[1] == kind for each in made) for kind in ("same", "other", "missing")}
    lines = [HEAD.format(all=len(made), **counts)]
    lines += ["## Other arguments\n", "| name | what |", "|---|---|"]
    lines += [f"| `{name}` | {what} |" for name, kind, what in sorted(made) if kind == "other"]
    lines += ["", "## Left out\n", "| names | instead |", "|---|---|"]
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, kind, what in sorted(made):
        if kind == "missing":
            module, _, own = name.rpartition(".")
            reasons[module, what].append(own)
    lines += [f"| `{module}`: {', '.join(names)} | {what} |" for (module, what), names in reasons.items()]
    lines += ["", "## The same arguments\n", "| module | names |", "|---|---|"]
    same: dict[str, list[str]] = defaultdict(list)
    for name, kind, _ in sorted(made):
        if kind == "same":
            module, _, own = name.rpartition(".")
            same[module].append(own)
    lines += [f"| `{module}` | {', '.join(names)} |" for module, names in same.items()]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is another")
    text = page()
    if parser.parse_args().check:
        return int(PAGE.read_text() != text)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
