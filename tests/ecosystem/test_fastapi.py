"""FastAPI: `examples/serving.py` answers many requests at once, each with its own outputs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fastapi.testclient import TestClient

from torchkeras.layers import Dense
from torchkeras.models import Sequential

pytestmark = pytest.mark.slow


def test_requests_at_once_get_their_own_answers(tmp_path, script):
    serving = script("examples/serving.py")
    model = Sequential([Dense(3, activation="tanh", input_shape=(4,))])
    model.save(tmp_path / "model.h5")
    samples = np.random.default_rng(0).normal(size=(200, 4))
    with TestClient(serving.application(str(tmp_path / "model.h5"))) as client, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda row: client.post("/predict", json={"sample": row.tolist()}), samples))
        assert {answer.status_code for answer in answers} == {200}
        found = [answer.json()["outputs"] for answer in answers]
        np.testing.assert_allclose(found, model.predict(samples), rtol=1e-5, atol=1e-6)
        for bad in ({"sample": [1.0]}, {"other": [1.0]}, {"sample": ["a", "b", "c", "d"]}):
            assert client.post("/predict", json=bad).status_code == 422
