"""Python's limit of recursion is raised by whoever measures a depth, from any thread, and never lowered."""

import sys
import threading

import pytest

from torchkeras.base.python import at_least, leave_room
from torchkeras.errors import ModelFileError
from torchkeras.models import model_from_json
from torchkeras.saving.containers import json_text


@pytest.fixture
def limit():
    """Python's own limit, without what models of other tests need."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield 1000
    sys.setrecursionlimit(max(before, sys.getrecursionlimit()))


def test_what_is_usual_changes_nothing(limit):
    leave_room(100)
    json_text.parse("[" * 100 + "]" * 100, "m.json")
    assert sys.getrecursionlimit() == limit


def test_it_is_never_lowered(limit):
    at_least(3000)
    at_least(2000)
    assert sys.getrecursionlimit() == 3000


def test_the_highest_of_many_threads_stays(limit):
    threads = [threading.Thread(target=at_least, args=[2000 + 10 * k]) for k in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sys.getrecursionlimit() == 2490


def test_a_text_as_deep_as_is_read(limit):
    assert json_text.parse("[" * 1024 + "]" * 1024, "m.json")
    assert sys.getrecursionlimit() == 500 + 5 * 1024


def test_a_deep_option_is_an_error_of_the_family(limit):
    deep = "[" * 1000 + "]" * 1000
    layers = f'[{{"class_name": "Dense", "config": {{"units": {deep}}}}}]'
    text = f'{{"keras_version": "2.2.4", "class_name": "Sequential", "config": {layers}}}'
    # Python 3.12 has a limit of its own for calls by C, which no setting raises.
    deepest = "maximum recursion depth exceeded" if sys.version_info[:2] == (3, 12) else "units"
    with pytest.raises(ModelFileError, match=deepest):
        model_from_json(text)
