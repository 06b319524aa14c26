"""A model behind HTTP: FastAPI takes the requests, `serve` gathers them to batches.

pip install fastapi uvicorn
python examples/serving.py model.h5 [--port 8000]
curl -X POST localhost:8000/predict -H "Content-Type: application/json" -d '{"sample": [0.1, 0.2, 0.3, 0.4]}'
"""

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException

from torchkeras import serve
from torchkeras.models import load_model


def application(path: str) -> FastAPI:
    """Answers `POST /predict` of a sample as nested lists with the model's outputs."""
    server = serve(load_model(path, compile=False, isolated=True), max_batch=64, max_delay=0.002)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        server.close()

    app = FastAPI(lifespan=lifespan)

    @app.post("/predict")
    async def predict(request: dict[str, Any]) -> dict[str, Any]:
        try:
            found = await asyncio.wrap_future(server.submit(request["sample"]))
        except (KeyError, ValueError) as error:
            raise HTTPException(422, f"send a sample of the model's shape: {error}") from error
        return {"outputs": found.tolist()}

    return app


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a file that load_model reads")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    uvicorn.run(application(given.model), port=given.port)
