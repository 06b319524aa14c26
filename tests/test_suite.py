"""`benchmarks/suite.py`: the numbers of its table."""

from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("warm_up", "rounds", "said"),
    [([18.0, 1.0], [1.0, 1.1, 0.9], "17"), ([1.0, 1.0], [1.0], "0"), ([1.0, 0.9], [1.0, 1.2, 1.1], "0")],
)
def test_seconds_of_compiling_are_never_below_0(script, monkeypatch, warm_up, rounds, said):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    suite = script("benchmarks/suite.py")
    found = {
        name: suite.Measured([1.0], [2.0], suite.seconds_of_compiling(warm_up, rounds))
        for name in (suite.TUNED, "torchkeras auto")
    }
    assert suite.cells(found)[1] == {"torchkeras auto": said}
