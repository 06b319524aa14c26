"""`keras.datasets`: small data sets, downloaded once."""

from torchkeras.keras2.datasets import boston_housing, cifar10, cifar100, fashion_mnist, imdb, mnist, reuters

__all__ = ["boston_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist", "reuters"]
