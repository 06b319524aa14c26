"""A LightningModule around a model, which another process imports too."""

import lightning
import torch
from torch.nn import functional as F

from torchkeras import Model


class Around(lightning.LightningModule):
    def __init__(self, model: Model, rate: float = 0.1):
        super().__init__()
        self.save_hyperparameters({"rate": rate})
        self.model, self.rate = model, rate
        self.modes: list[bool] = []

    def training_step(self, batch, index):
        x, y = batch
        self.modes.append(self.model.training)
        loss = F.mse_loss(self.model(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.modes.append(self.model.training)
        self.log("val_loss", F.mse_loss(self.model(x), y))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.rate, momentum=0.9)
