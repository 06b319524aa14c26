"""`benchmarks/cuda_report.py`, which `scripts/cuda` runs, as far as a CPU can run its parts."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def cuda_report(script: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return script("benchmarks/cuda_report.py")


def run(cuda_report: Any, monkeypatch: pytest.MonkeyPatch, to: Path) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["cuda_report.py", "--device", "cpu", "--only", "mlp", "--to", str(to)])
    with pytest.raises(SystemExit) as ended:
        cuda_report.main()
    return ended.value.code, to.read_text()  # type: ignore[return-value]


def test_the_parts_that_a_cpu_can_run(cuda_report: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    status, report = run(cuda_report, monkeypatch, tmp_path / "report.md")
    assert status == 0
    assert dict(re.findall(r"^## (\w+): (.*)$", report, re.M)) == {
        **dict.fromkeys(("machine", "numbers", "waits", "processes"), "passed"),
        **dict.fromkeys(("tests", "graphs", "memory", "speed"), "not run"),
    }
    assert len(re.findall(r"^\| mlp \| (?:float32|TF32|mixed_\w+) \|", report, re.M)) == 4
    assert "| mlp | none |" in report
    assert "| 2 | gloo | 8 |" in report


def test_a_part_that_fails_is_in_the_report(cuda_report: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def broken(request: Any) -> str:
        raise RuntimeError("out of memory")

    parts = {each: cuda_report.PARTS[each] for each in (cuda_report.numbers, cuda_report.graphs)}
    monkeypatch.setattr(cuda_report, "PARTS", {broken: lambda request: None, **parts})
    monkeypatch.setitem(cuda_report.PRECISIONS, "mixed_bfloat16", 0.0)
    status, report = run(cuda_report, monkeypatch, tmp_path / "report.md")
    assert status == 1
    ends = {"broken": "FAILED", "numbers": "FAILED", "graphs": "not run"}
    assert dict(re.findall(r"^## (\w+): (.*)$", report, re.M)) == ends
    assert "RuntimeError: out of memory" in report
    assert "| mlp | mixed_float16 |" in report


def test_a_command_that_fails_says_why(cuda_report: Any):
    with pytest.raises(cuda_report.FailureError, match="No module named"):
        cuda_report.output([sys.executable, "-m", "of_nobody"])
