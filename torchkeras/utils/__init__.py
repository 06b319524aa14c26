"""What users of Keras find in `keras.utils`."""

from torchkeras.utils.hdf5_matrix import HDF5Matrix
from torchkeras.utils.numbers import normalize, to_categorical
from torchkeras.utils.sequence import Sequence

__all__ = ["HDF5Matrix", "Sequence", "normalize", "to_categorical"]
