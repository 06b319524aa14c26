"""The files in .github: workflows call scripts that are there, forms for issues have what GitHub asks of them."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def commands(jobs: dict[str, Any]) -> list[str]:
    return [step["run"] for job in jobs.values() for step in job.get("steps", ()) if "run" in step]


def test_workflows_are_there():
    assert {path.stem for path in WORKFLOWS} >= {"docs", "matrix", "release", "tests"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_only_calls_scripts_that_are_there(path: Path):
    workflow = read(path)
    assert workflow["name"] == path.stem
    assert workflow[True]  # YAML reads the key `on` so
    for job in workflow["jobs"].values():
        assert ("uses" in job) != ("runs-on" in job)
        needed = [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", [])
        assert set(needed) <= set(workflow["jobs"])
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
    for command in commands(workflow["jobs"]):
        script = re.match(r"scripts/\w+", command)
        assert script, command
        assert os.access(ROOT / script[0], os.X_OK), command


def test_the_matrix_has_the_rows_of_the_script():
    matrix = read(ROOT / ".github" / "workflows" / "matrix.yml")["jobs"]["row"]["strategy"]["matrix"]
    script = (ROOT / "scripts" / "matrix.py").read_text()
    (pythons,) = re.findall(r"^PYTHONS = \((.*)\)$", script, re.MULTILINE)
    assert matrix == {"python": re.findall(r"[\d.]+", pythons), "which": ["oldest", "newest"]}


CHECKS = ["scripts/check", "scripts/check_outside"]
# What stands outside of tests/, was shown once, and would come apart if nothing ran it.
OUTSIDE = [
    *("scripts/keras_suite", "scripts/keras_suite --version 3.15", "scripts/keras_examples"),
    *("scripts/docs check --if-found", "scripts/ecosystem"),
    "scripts/kill_runs --count 24",
]


def lines(path: Path) -> list[str]:
    """The commands of a shell script that ends at the first one that fails."""
    found = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert found[:2] == ["set -euo pipefail", 'cd "$(dirname "${BASH_SOURCE[0]}")/.."']
    return found[2:]


def test_ci_runs_what_the_workflow_runs():
    assert commands(read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]) == CHECKS
    assert lines(ROOT / ".ci" / "run") == CHECKS


def test_ci_runs_what_others_wrote():
    """A part that is left out of the second stage, or whose failure does not end it, is found here."""
    assert lines(ROOT / "scripts" / "check_outside") == OUTSIDE
    assert all(os.access(ROOT / command.split()[0], os.X_OK) for command in OUTSIDE)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_for_issues(path: Path):
    form = read(path)
    assert {"name", "description", "body"} <= set(form)
    for part in form["body"]:
        assert part["type"] in ("input", "textarea", "markdown", "dropdown", "checkboxes")
        assert part["attributes"]["label"]
