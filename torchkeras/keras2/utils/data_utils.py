"""`keras.utils.data_utils`: files from the network, and batches made ahead."""

from torchkeras.keras2.utils.download import _hash_file, get_file, validate_file
from torchkeras.keras2.utils.enqueuers import GeneratorEnqueuer, OrderedEnqueuer, SequenceEnqueuer
from torchkeras.keras2.utils.progbar import Progbar
from torchkeras.utils import Sequence

__all__ = [
    "GeneratorEnqueuer",
    "OrderedEnqueuer",
    "Progbar",
    "Sequence",
    "SequenceEnqueuer",
    "_hash_file",
    "get_file",
    "validate_file",
]
