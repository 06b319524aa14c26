"""Train on a DataLoader that shifts the scans by a pixel as it loads them, with an optimizer and a loss of torch."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

from torchkeras.layers import Conv2D, Dense, Flatten, MaxPooling2D
from torchkeras.models import Sequential


class Shifted(Dataset):
    """Images and their classes; each image is shifted by up to a pixel, differently each time."""

    def __init__(self, images: torch.Tensor, classes: torch.Tensor):
        self.images, self.classes = images, classes

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        down, right = torch.randint(-1, 2, (2,)).tolist()
        return torch.roll(self.images[index], (down, right), (0, 1)), self.classes[index]


torch.manual_seed(0)
scans = load_digits()
images = torch.from_numpy((scans.images / 16).astype("float32"))[..., None]
classes = torch.from_numpy(scans.target)
held_out = torch.from_numpy(np.arange(len(images)) % 5 == 0)

training = DataLoader(Shifted(images[~held_out], classes[~held_out]), batch_size=64, shuffle=True)
validation = DataLoader(torch.utils.data.TensorDataset(images[held_out], classes[held_out]), batch_size=128)

model = Sequential([Conv2D(24, 3, activation="relu", input_shape=(8, 8, 1)), MaxPooling2D(), Flatten(), Dense(10)])
model.compile((torch.optim.AdamW, {"lr": 3e-3}), torch.nn.CrossEntropyLoss(), ["sparse_categorical_accuracy"])
model.fit(training, epochs=4, validation_data=validation, verbose=2)

loss, accuracy = model.evaluate(validation, verbose=0)
print(f"held-out accuracy: {accuracy:.3f}")
print("predictions:", model.predict(validation).shape)
