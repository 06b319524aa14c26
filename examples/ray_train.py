"""Train with the workers of Ray Train's TorchTrainer.

python examples/ray_train.py [number of workers]

Ray starts the workers and makes their group; `compile` uses the group that it finds. Each worker runs `train`, which is
what a script for one process would be. The model is not given to `prepare_model`, nor the data to
`prepare_data_loader`: torchkeras shares them itself.
"""

import sys

import torch
from ray import train as ray_train
from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer
from sklearn.datasets import load_digits

from torchkeras.callbacks import LambdaCallback
from torchkeras.distribution import is_main, world_size
from torchkeras.layers import Dense, Input
from torchkeras.models import Sequential


def train(options: dict[str, int]) -> None:
    torch.manual_seed(0)
    digits = load_digits()
    images = (digits.data / 16).astype("float32")
    model = Sequential([Input((64,)), Dense(32, activation="relu"), Dense(10, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    told = LambdaCallback(on_epoch_end=lambda epoch, logs: ray_train.report({name: float(logs[name]) for name in logs}))
    history = model.fit(images, digits.target, batch_size=32, epochs=options["epochs"], verbose=0, callbacks=[told])
    if is_main():
        print(f"{world_size()} processes, last loss {history.history['loss'][-1]:.5f}")


if __name__ == "__main__":
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    scaling = ScalingConfig(num_workers=workers, use_gpu=torch.cuda.is_available())
    TorchTrainer(train, train_loop_config={"epochs": 3}, scaling_config=scaling).fit()
