"""FastAPI: `examples/serving.py` answers many requests at once, each with its own outputs."""

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from torchkeras.layers import Dense
from torchkeras.models import Sequential

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parents[2] / "examples" / "serving.py"


def test_requests_at_once_get_their_own_answers(tmp_path):
    spec = importlib.util.spec_from_file_location("serving_example", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    model = Sequential([Dense(3, activation="tanh", input_shape=(4,))])
    model.save(tmp_path / "model.h5")
    samples = np.random.default_rng(0).normal(size=(200, 4))
    with TestClient(script.application(str(tmp_path / "model.h5"))) as client, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda row: client.post("/predict", json={"sample": row.tolist()}), samples))
        assert {answer.status_code for answer in answers} == {200}
        found = [answer.json()["outputs"] for answer in answers]
        np.testing.assert_allclose(found, model.predict(samples), rtol=1e-5, atol=1e-6)
        for bad in ({"sample": [1.0]}, {"other": [1.0]}, {"sample": ["a", "b", "c", "d"]}):
            assert client.post("/predict", json=bad).status_code == 422
