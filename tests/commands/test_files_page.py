"""The tables of docs/files.md are those of the code."""

from pathlib import Path

from torchkeras import errors
from torchkeras.commands.convert import BY_SUFFIX
from torchkeras.commands.exits import MEANINGS
from torchkeras.saving.containers.limits import LIMITS

PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text()


def rows(heading):
    """The rows of the table under a heading, without the line of dashes."""
    lines = PAGE.split(f"\n{heading}\n", 1)[1].splitlines()
    table = [line.strip("| ").split(" | ") for line in lines[1:]]
    return table[: next((index for index, row in enumerate(table) if len(row) < 2), len(table))]


def test_the_codes():
    assert rows("| code | meaning |") == [[str(code), meaning] for code, meaning in MEANINGS.items()]


def test_the_limits():
    told = {what: int(number.replace(",", "")) for what, number in rows("| limit | of one file |")}
    assert told == {
        "groups and datasets": LIMITS.members,
        "depth of groups": LIMITS.depth,
        "letters of a path of groups": LIMITS.path,
        "bytes of a name": LIMITS.name,
        "bytes of an attribute": LIMITS.attribute,
        "bytes of texts of undeclared sizes": LIMITS.texts,
        "parts of a split list, members of a zip": LIMITS.parts,
        "bytes of JSON": LIMITS.json,
        "depth of JSON": LIMITS.json_depth,
        "digits of a number in JSON": LIMITS.digits,
        "bytes of an array": LIMITS.array,
        "bytes of all arrays": LIMITS.total,
        "times that compressed bytes may grow, in what is over 64 MiB": LIMITS.ratio,
        "steps of a pickle": LIMITS.steps,
        "models in one another": LIMITS.models,
        "layers": LIMITS.layers,
        "calls of layers": LIMITS.calls,
    }


def test_the_tree_of_errors_and_the_suffixes():
    assert (errors.__doc__ or "").split("\n\n", 1)[1].strip() in PAGE
    assert f"torchkeras convert IN OUT                    {' '.join(BY_SUFFIX)}, by OUT's suffix\n" in PAGE
