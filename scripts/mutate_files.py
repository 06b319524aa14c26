"""Read mutated copies of genuine model files with the isolated reader, and count the results.

    python scripts/mutate_files.py [--count 20000] [--seed 0] [--jobs 1] FOLDER...

takes every `model.h5`, `model.keras` and `model.weights.h5` below the folders (by default tests/golden) in turn, and
with `--made` some of the models as `.pt`, `.safetensors`, JSON and YAML instead. Mutation number k of a seed is always
the same: a few bits flipped, bytes overwritten with zeros, ones, noise or lengths, the end cut off, two blocks swapped,
a block doubled or taken out.

Each copy goes through `isolated.cleaned`, and all of the clean copy is then read in this process. If it differs from
the genuine file in more than bytes that nothing protects, `load_model` reads it as well. Files of tensors and texts are
read as models at once. With `--in-process` every file is read by `load_model` alone. The result is one of these:

- refused: a ModelFileError, from the reader or from `load_model`;
- outside: another error;
- same: everything that is read (the tree of groups, attributes, shapes, types, values; the two texts of an archive)
  equals the genuine file, or `load_model` returns the genuine model: the same architecture and weights, bit by bit;
- data: names, shapes and types equal the genuine file's, and each value that differs is in a mutated byte of the file:
  a raw number of an array, or a letter of a text of the same length. HDF5 has no checksum of these, so no reader can
  notice. In an archive every byte has a checksum, so nothing may differ there;
- wrong: anything else that loads without an error.

JSON, YAML and the header of `.safetensors` have no checksum: where such a text makes another model, it is "data". Also
counted are deaths of the asking process (each batch has its own; it dies by a signal, and the next one goes on after
that mutation), hangs (it is killed after 20 seconds of processor time) and readings over the limit (longer than their
time limit plus 5 seconds). Each of these, and the slowest files, are printed by number, seconds and file. Exits with 1
if there are deaths, hangs, wrong loads, errors outside the family or readings over the limit.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from torchkeras import clear_session
from torchkeras.errors import ModelFileError
from torchkeras.models import Model, load_model, model_from_json, model_from_yaml
from torchkeras.saving.containers import archive, hdf5, isolated

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden"
NAMES = ("model.h5", "model.keras", "model.weights.h5")
SECONDS = 10.0
PROCESSOR = 20.0  # seconds of processor time after which the reading process is killed
SLOWEST = 5  # files that are told
MEMORY = 1 << 30
BATCH = 500  # each reads the genuine files once more
MADE = {".pt": 12, ".safetensors": 12, ".json": 40, ".yaml": 40}  # how many models are written so
TEXTS = {".json": model_from_json, ".yaml": model_from_yaml}
BAD = ("deaths", "hangs", "outside", "wrong", "over the limit")


# --- mutations -------------------------------------------------------------------------------------------------------


def flip(content: bytearray, draw: random.Random) -> None:
    for _ in range(draw.choice((1, 1, 2, 4, 16, 64))):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)


def overwrite(content: bytearray, draw: random.Random) -> None:
    length = draw.choice((1, 2, 4, 8, 16, 64, 512))
    start = draw.randrange(max(1, len(content) - length))
    patterns = (bytes(length), b"\xff" * length, draw.randbytes(length), b"\x7f" + bytes(length - 1))
    content[start : start + length] = draw.choice(patterns)


def lie(content: bytearray, draw: random.Random) -> None:
    """Change a length or an address of HDF5, eight bytes."""
    start = draw.randrange(max(1, len(content) - 8))
    value = draw.choice((0, 1, len(content), draw.randrange(len(content)), 1 << 31, 1 << 40, (1 << 64) - 1))
    content[start : start + 8] = value.to_bytes(8, "little")


def cut(content: bytearray, draw: random.Random) -> None:
    del content[draw.randrange(len(content)) :]


def swap(content: bytearray, draw: random.Random) -> None:
    length = draw.choice((8, 40, 256, 1024))
    one, other = (draw.randrange(max(1, len(content) - length)) for _ in range(2))
    if abs(one - other) >= length:
        content[one : one + length], content[other : other + length] = (
            content[other : other + length],
            content[one : one + length],
        )


def double(content: bytearray, draw: random.Random) -> None:
    start = draw.randrange(len(content))
    content[start:start] = content[start : start + draw.choice((1, 8, 512))]


def take_out(content: bytearray, draw: random.Random) -> None:
    start = draw.randrange(len(content))
    del content[start : start + draw.choice((1, 8, 512))]


MUTATIONS = (flip, flip, flip, overwrite, overwrite, lie, lie, cut, swap, double, take_out)


def mutated(content: bytes, seed: int, number: int) -> bytes:
    """Mutation `number` of a file."""
    draw = random.Random(f"{seed} {number}")
    changed = bytearray(content)
    draw.choice(MUTATIONS)(changed, draw)
    return bytes(changed)


# --- what a file holds -----------------------------------------------------------------------------------------------


def contents(path: Path) -> dict[str, Any]:
    """Everything that is read from a file, by its place."""
    if archive.is_archive(path):
        with archive.opened(path) as found, found.weights() as weights:
            texts = {"config": json.dumps(found.config), "metadata": json.dumps(found.metadata)}
            return {**tree(weights), **texts}
    with hdf5.reading(path) as file:
        return tree(file)


def tree(group: h5py.Group) -> dict[str, Any]:
    found: dict[str, Any] = {}
    pending: list[Any] = [group]
    while pending:
        place = pending.pop()
        found.update({f"{place.name}@{name}": value for name, value in hdf5.attributes(place).items()})
        if isinstance(place, h5py.Dataset):
            found[str(place.name)] = hdf5.values(place)
        else:
            found[f"{place.name}/"] = None
            pending += hdf5.members(place).values()
    return found


def verdict(genuine: dict[str, Any], found: dict[str, Any], before: bytes, after: bytes, is_zip: bool) -> str:
    """ "same", "data" or "wrong", as described above."""
    if genuine.keys() != found.keys():
        return "wrong"
    differing = [(genuine[key], found[key]) for key in genuine if not same(genuine[key], found[key])]
    if not differing:
        return "same"
    if is_zip or len(before) != len(after):
        return "wrong"
    hit = [place for place in range(len(before)) if before[place] != after[place]]
    return "data" if all(only_in(hit, before, after, old, new) for old, new in differing) else "wrong"


def same(old: Any, new: Any) -> bool:
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        return (old.dtype, old.shape, old.tobytes()) == (new.dtype, new.shape, new.tobytes())
    return type(old) is type(new) and old == new


def only_in(hit: list[int], before: bytes, after: bytes, old: Any, new: Any) -> bool:
    """Whether the differing bytes of a value are at mutated places: the value is at one place in both files."""
    if type(old) is not type(new):
        return False
    if isinstance(old, np.ndarray):
        if (old.dtype, old.shape) != (new.dtype, new.shape):
            return False
        whole = at_one_place(hit, before, after, old.tobytes(), new.tobytes())
        return whole or by_number(hit, before, after, old, new)
    if isinstance(old, str):
        return at_one_place(hit, before, after, old.encode(), new.encode())
    if isinstance(old, list) and len(old) == len(new) and all(isinstance(item, str) for item in (*old, *new)):
        return all(
            one == other or at_one_place(hit, before, after, one.encode(), other.encode())
            for one, other in zip(old, new, strict=True)
        )
    return False


def by_number(hit: list[int], before: bytes, after: bytes, old: np.ndarray, new: np.ndarray) -> bool:
    """Whether each number that differs is at a mutated place: what is loaded may have another order than the file."""
    size = old.itemsize
    pairs = {
        (before[begin : begin + size], after[begin : begin + size])
        for place in hit
        for begin in range(max(0, place - size + 1), place + 1)
    }
    bytes_of = [[each.tobytes() for each in array.reshape(-1)] for array in (old, new)]
    return all(one == other or (one, other) in pairs for one, other in zip(*bytes_of, strict=True))


def at_one_place(hit: list[int], before: bytes, after: bytes, old: bytes, new: bytes) -> bool:
    """The same for a text: a zero byte written into a text of a fixed length ends it; its stored length is the same."""
    length = max(len(old), len(new))
    old, new = old.ljust(length, b"\0"), new.ljust(length, b"\0")
    different = [place for place in range(length) if old[place] != new[place]]
    starts = {place - different[0] for place in hit}
    return any(
        start >= 0
        and before[start : start + len(old)] == old
        and after[start : start + different[-1] + 1] == new[: different[-1] + 1]
        for start in starts
    )


def loaded(path: Path) -> Model:
    clear_session()
    if path.suffix in TEXTS:
        return TEXTS[path.suffix](path.read_bytes().decode("latin-1"))
    return load_model(path)


def write_others(folders: list[Path], target: Path) -> None:
    """Write some of the models in the formats of `MADE`, each to a folder of its own."""
    genuine = [path for path in files(folders) if path.name == "model.h5"]
    for suffix, count in MADE.items():
        for number, path in enumerate(genuine[:: max(1, len(genuine) // count)]):
            clear_session()
            try:
                model = load_model(path, compile=False)
            except ModelFileError:  # what a caller has to say more about
                continue
            made = target / f"{suffix[1:]}{number}" / f"model{suffix}"
            made.parent.mkdir()
            if suffix in TEXTS:
                made.write_text(model.to_json() if suffix == ".json" else model.to_yaml(), "utf-8")
            else:
                model.save(made)


def verdict_of_models(genuine: Model, found: Model, before: bytes, after: bytes, in_text: bool = False) -> str:
    """ "same", "data" or "wrong" for what was loaded, whatever else the file has."""
    if in_text and genuine.to_json() != found.to_json():
        return "data"
    old, new = (
        [tensor.numpy() for tensor in model.state_dict().values()] if in_text else model.get_weights()
        for model in (genuine, found)
    )
    if genuine.to_json() != found.to_json() or len(old) != len(new):
        return "wrong"
    differing = [pair for pair in zip(old, new, strict=True) if not same(*pair)]
    hit = [place for place in range(min(len(before), len(after))) if before[place] != after[place]]
    if differing and not (len(before) == len(after) and all(only_in(hit, before, after, *pair) for pair in differing)):
        return "wrong"
    return "data" if differing else "same"


# --- running ---------------------------------------------------------------------------------------------------------


def files(folders: list[Path]) -> list[Path]:
    names = (*NAMES, *(f"model{suffix}" for suffix in MADE))
    return sorted(path for folder in folders for name in names for path in folder.rglob(name))


def outcome_of(path: Path, known: tuple[bytes, Any], changed: bytes, target: Path) -> str:
    """What becomes of a mutated file. Raises the errors of reading it."""
    genuine, expected = known
    if path.suffix in TEXTS:
        same_text = loaded(target).to_json() == loaded(path).to_json()
        return "same" if same_text else "data"
    with isolated.cleaned(target, SECONDS, MEMORY) as copy:
        if expected is None:
            return verdict_of_models(loaded(path), loaded(copy), genuine, changed, path.suffix == ".safetensors")
        outcome = verdict(expected, contents(copy), genuine, changed, path.suffix == ".keras")
        if outcome == "wrong":
            outcome = verdict_of_models(loaded(path), loaded(copy), genuine, changed)
        return outcome


def outcome_in_process(path: Path, genuine: bytes, changed: bytes, target: Path) -> str:
    """The same, read without another process."""
    found, model = loaded(target), loaded(path)
    outcome = verdict_of_models(model, found, genuine, changed, path.suffix == ".safetensors")
    if outcome == "wrong" and path.name in NAMES:  # unless it is in a text
        return verdict(contents(path), contents(target), genuine, changed, path.suffix == ".keras")
    return outcome


class Reading(NamedTuple):
    """What became of mutation `number`: the result, seconds of the clock and of this process, what else to count."""

    number: int
    outcome: str
    seconds: float = 0.0
    own: float = 0.0
    also: tuple[str, ...] = ()


def readings(paths: list[Path], numbers: Iterable[int], seed: int, in_process: bool = False) -> Iterator[Reading]:
    """Read the mutations with these numbers. A reading of over `PROCESSOR` seconds kills this process by SIGPROF."""
    known: dict[Path, tuple[bytes, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            path = paths[number % len(paths)]
            if path not in known:
                has_tree = path.name in NAMES and not in_process
                known[path] = path.read_bytes(), contents(path) if has_tree else None
            changed, begun, used = mutated(known[path][0], seed, number), time.monotonic(), time.process_time()
            target = Path(folder) / path.name
            target.write_bytes(changed)
            signal.setitimer(signal.ITIMER_PROF, PROCESSOR)  # it is not inherited by the isolated reader
            outcome, also = judged(path, known[path], changed, target, in_process)
            signal.setitimer(signal.ITIMER_PROF, 0)
            yield Reading(number, outcome, time.monotonic() - begun, time.process_time() - used, also)


def judged(
    path: Path, known: tuple[bytes, Any], changed: bytes, target: Path, in_process: bool
) -> tuple[str, tuple[str, ...]]:
    """What becomes of a mutated file, and what else to count."""
    try:
        if in_process and path.suffix not in TEXTS:
            return outcome_in_process(path, known[0], changed, target), ()
        return outcome_of(path, known, changed, target), ()
    except ModelFileError as error:
        text = str(error)
        also = {
            f"refused: {type(error).__name__}": True,
            "children killed by a signal": "was killed by signal" in text,
            "children stopped at a limit": "reading it takes" in text,
        }
        return "refused", tuple(name for name, counted in also.items() if counted)
    except Exception as error:  # noqa: BLE001  (what is outside the family is counted)
        print(f"outside: {path}: {type(error).__name__}: {error}"[:500], file=sys.stderr)
        return "outside", ()


def batch(arguments: argparse.Namespace, numbers: range) -> list[Reading]:
    """Read mutations in a process. Where one kills it, another process goes on after that one."""
    found: list[Reading] = []
    command = [sys.executable, __file__, "--seed", str(arguments.seed), *map(str, arguments.folders)]
    command += ["--in-process"] * arguments.in_process
    while numbers:
        ends = ["--first", str(numbers.start), "--last", str(numbers.stop)]
        done = subprocess.run([*command, *ends], stdout=subprocess.PIPE, text=True, check=False)
        told = [Reading(*json.loads(line)) for line in done.stdout.splitlines()]
        found += told
        numbers = numbers[len(told) :]
        if numbers:
            found.append(Reading(numbers[0], "hangs" if done.returncode == -signal.SIGPROF else "deaths", PROCESSOR))
            numbers = numbers[1:]
    return found


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", type=Path, default=[GOLDEN])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--made", action="store_true")
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int)
    arguments = parser.parse_args()
    if arguments.last is not None:
        numbers = range(arguments.first, arguments.last)
        for found in readings(files(arguments.folders), numbers, arguments.seed, arguments.in_process):
            print(json.dumps(found), flush=True)
        return 0
    with tempfile.TemporaryDirectory() as made:
        if arguments.made:
            write_others(arguments.folders, Path(made))
            arguments.folders = [Path(made)]
        return run_all(arguments)


def run_all(arguments: argparse.Namespace) -> int:
    """Read all mutations, a batch in a process; returns 1 if something bad was found."""
    begun, counts, slowest = time.monotonic(), Counter[str](), list[Reading]()
    paths, last = files(arguments.folders), arguments.first + arguments.count
    batches = [range(k, min(k + BATCH, last)) for k in range(arguments.first, last, BATCH)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(partial(batch, arguments), batches):
            for one in found:
                path, late = paths[one.number % len(paths)], one.seconds > SECONDS + 5
                counts.update([one.outcome, f"{path.suffix} read", *one.also, *["over the limit"] * late])
                if late or one.outcome in BAD:
                    print(f"{one.outcome}: {_told(one, path)}", file=sys.stderr)
            slowest = sorted([*slowest, *found], key=lambda one: one.seconds)[-SLOWEST:]
            print(f"{found[-1].number + 1 - arguments.first} read; {dict(counts)}", file=sys.stderr)
    for one in reversed(slowest):
        print(f"slow: {one.outcome}: {_told(one, paths[one.number % len(paths)])}", file=sys.stderr)
    counts["seconds"] = round(time.monotonic() - begun)
    print(json.dumps({**dict.fromkeys(BAD, 0), **dict(sorted(counts.items()))}, indent=1))
    return int(any(counts[name] for name in BAD))


def _told(one: Reading, path: Path) -> str:
    return f"mutation {one.number}, {one.seconds:.1f} s, {one.own:.1f} by this process: {path}"


if __name__ == "__main__":
    sys.exit(main())
