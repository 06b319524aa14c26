"""Look for texts that the readers of files do not stand, led by coverage: what reaches new code is changed further.

    pip install atheris     # beside torchkeras
    python scripts/fuzz_readers.py json [--seconds 3600] [--corpus FOLDER] [--found FOLDER]

The readers are `json` (`model_from_json`), `yaml` (`model_from_yaml`), `header` (of a `.safetensors` file) and `pickle`
(of a `.pt` file, as it is looked at before torch reads it). The first texts are those of the genuine models in
tests/golden. JSON is changed as a tree: values, keys and branches are replaced, moved, doubled, nested and taken out.

A text is a finding if its reader raises another error than a ModelFileError, takes longer than 20 seconds or more than
4 GB, or kills the process; and if it gives a model whose own JSON makes another one. Each finding is written to the
folder of `--found`, with its traceback; the search goes on behind errors, and ends at a hang or a death. Prints how
many texts were read, by result. Exits with 1 if there are findings.
"""

from __future__ import annotations

import argparse
import atexit
import io
import json
import random
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["torchkeras"]):
    from torchkeras import clear_session
    from torchkeras.errors import ModelFileError
    from torchkeras.models import load_model, model_from_json, model_from_yaml
    from torchkeras.saving.containers import archive, hdf5, pickled, tensor_header
    from torchkeras.saving.containers.limits import LIMITS

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
LONGEST = 6000  # bytes of a first text, of which some hundred are read a second
SECONDS, MEGABYTES = 20, 4096  # for one text
LEAVES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 3, 7, 1 << 31, 1 << 63, 10**30, -(10**9), 0.5, 1e-7, -0.0, 1e308),
    *(float("nan"), float("inf"), "", "a", "/", ".", "\0", "é" * 40, "x" * 2000, "same", "valid", "causal"),
    *("channels_first", "channels_last", "float16", "bfloat16", "int64", "mixed_float16", "relu", "softmax"),
    *([], [None], [0, 0], [1, 2, 3], [[]], {}, {"class_name": "Dense", "config": {}}, {"name": "a"}),
)

Reader = Callable[[bytes], str]


# --- readers ---------------------------------------------------------------------------------------------------------


def again(model: Any) -> str:
    """ "read", or "changed" if the model's own JSON makes another model."""
    told = model.to_json()
    clear_session()
    if model_from_json(told).to_json() != told:
        raise AssertionError("the JSON of this model makes another one")
    return "read"


def read_json(text: bytes) -> str:
    return again(model_from_json(text.decode("utf-8", "replace")))


def read_yaml(text: bytes) -> str:
    return again(model_from_yaml(text.decode("utf-8", "replace")))


def read_header(text: bytes) -> str:
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        file.write(text)
        file.flush()
        tensor_header.read(file.name)
    return "read"


def read_pickle(text: bytes) -> str:
    pickled.Machine("fuzzed", LIMITS).run(io.BytesIO(text))
    return "read"


READERS: dict[str, Reader] = {"json": read_json, "yaml": read_yaml, "header": read_header, "pickle": read_pickle}


# --- first texts -----------------------------------------------------------------------------------------------------


def configs() -> list[str]:
    found = set()
    for path in sorted(GOLDEN.rglob("*")):
        try:
            if path.name == "model.h5":
                with hdf5.reading(path) as file:
                    text = str(hdf5.attributes(file)["model_config"])
            elif path.name == "model.keras":
                with archive.opened(path) as container:
                    text = json.dumps(container.config)
            else:
                continue
        except (ModelFileError, KeyError):
            continue
        if len(text) <= LONGEST:
            found.add(text)
    return sorted(found)


def first_texts(kind: str) -> list[bytes]:
    if kind == "json":
        return [text.encode() for text in configs()]
    if kind == "yaml":
        return [model.to_yaml().encode() for text in configs()[::4] if (model := built(text)) is not None]
    if kind == "header":
        places = {f"layer.{k}.weight": {"dtype": "F32", "shape": [2, k], "data_offsets": [0, 8 * k]} for k in (0, 1, 3)}
        headers = [{name: place} for name, place in places.items()] + [{"__metadata__": {"format": "pt"}}]
        return [with_length(json.dumps(header).encode()) + bytes(24) for header in headers]
    with tempfile.TemporaryDirectory() as folder:
        return list(pickles(Path(folder)))


def built(text: str) -> Any:
    clear_session()
    try:
        return model_from_json(text)
    except ModelFileError:  # what a caller has to say more about
        return None


def with_length(header: bytes) -> bytes:
    return len(header).to_bytes(8, "little") + header


def pickles(folder: Path) -> list[bytes]:
    """The pickles in the `.pt` files of some models."""
    found = []
    for number, path in enumerate(sorted(GOLDEN.rglob("model.h5"))[::20]):
        clear_session()
        try:
            load_model(path, compile=False).save(folder / f"{number}.pt")
        except ModelFileError:
            continue
        with zipfile.ZipFile(folder / f"{number}.pt") as members:
            found += [members.read(name) for name in members.namelist() if name.endswith("data.pkl")]
    return [pickle for pickle in found if len(pickle) <= LONGEST]


# --- changes ---------------------------------------------------------------------------------------------------------


def places_of(tree: Any) -> list[tuple[Any, Any]]:
    """Every value of a tree: what it is in, and its key or number there."""
    found: list[tuple[Any, Any]] = []
    pending = [tree]
    while pending:
        each = pending.pop()
        inside = each if isinstance(each, dict) else dict(enumerate(each)) if isinstance(each, list) else {}
        found += [(each, key) for key in inside]
        pending += inside.values()
    return found


def copied(tree: Any) -> Any:
    return json.loads(json.dumps(tree))


def change(tree: Any, draw: random.Random) -> None:
    """Change one value, key or branch."""
    places = places_of(tree)
    if not places:
        return
    (holder, key), (other, its) = draw.choice(places), draw.choice(places)
    value, kind = holder[key], draw.randrange(8)
    if kind < 3:
        holder[key] = copied(draw.choice(LEAVES))
    elif kind == 3:
        holder[key] = copied(other[its])
    elif kind == 4:
        del holder[key]
    elif kind == 5 and isinstance(holder, list):
        holder.insert(draw.randrange(len(holder) + 1), copied(value))
    elif kind == 5:
        holder[its if isinstance(its, str) else "name"] = holder.pop(key)
    elif kind == 6:
        holder[key] = draw.choice(([value], [value, copied(value)], {"class_name": "Dense", "config": value}))
    elif type(value) in (int, float):
        holder[key] = draw.choice((value + 1, -value, value * 2, value / 2, str(value)))


def changed(text: bytes, most: int, seed: int) -> bytes:
    """A text that is changed as a tree, where it is one."""
    draw = random.Random(seed)
    header = text[8:].partition(b"}}")[0] + b"}}" if text[:1] != b"{" else text
    try:
        tree = json.loads(header)
        if not isinstance(tree, dict) or draw.randrange(16) == 0:
            return atheris.Mutate(text, most)
        for _ in range(draw.choice((1, 1, 1, 2, 4))):
            change(tree, draw)
        found = json.dumps(tree).encode()
    except (ValueError, RecursionError, OverflowError):
        return atheris.Mutate(text, most)
    return (found if header is text else with_length(found) + text[-24:])[:most]


# --- running ---------------------------------------------------------------------------------------------------------


class Search:
    """Reads texts, counts the results, and keeps what broke a reader, once for each place in the code."""

    def __init__(self, reader: Reader, found: Path):
        self._reader, self._found = reader, found
        self.counts: Counter[str] = Counter()
        self._known: set[str] = set()

    def read(self, text: bytes) -> None:
        clear_session()
        try:
            self.counts[self._reader(text)] += 1
        except ModelFileError:
            self.counts["refused"] += 1
        except Exception as error:  # noqa: BLE001  (whatever it is, it is a finding)
            self.counts["found"] += 1
            last = traceback.extract_tb(error.__traceback__)[-1]
            self._keep(text, f"{type(error).__name__} {last.filename} {last.lineno}")

    def _keep(self, text: bytes, place: str) -> None:
        if place in self._known:
            return
        self._known.add(place)
        path = self._found / sha256(place.encode()).hexdigest()[:12]
        path.write_bytes(text)
        path.with_suffix(".txt").write_text(traceback.format_exc(), "utf-8")
        print(f"found: {place}: {path}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=READERS)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="where texts are kept that reach new code; else they are forgotten")
    parser.add_argument("--found", type=Path, default=Path("found"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    given.found.mkdir(parents=True, exist_ok=True)
    corpus = given.corpus or Path(tempfile.mkdtemp())
    corpus.mkdir(parents=True, exist_ok=True)
    for text in first_texts(given.kind):
        (corpus / sha256(text).hexdigest()[:16]).write_bytes(text)
    search = Search(READERS[given.kind], given.found)
    options = [
        *(f"-max_total_time={given.seconds}", f"-seed={given.seed}", f"-timeout={SECONDS}"),
        *(
            f"-rss_limit_mb={MEGABYTES}",
            f"-max_len={4 * LONGEST}",
            f"-artifact_prefix={given.found}/",
            "-len_control=0",
        ),
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], search.read, custom_mutator=changed)
    atexit.register(lambda: print(json.dumps(dict(search.counts)), flush=True))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
