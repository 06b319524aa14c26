"""Whether operations run now, or are being recorded to be run later, by other rules."""

import torch


def traced() -> bool:
    """Whether torch.compile, or a transform of torch.func, is what runs this.

    Neither can follow what looks at values or writes by hand into memory: a layer then keeps to plain operations.
    """
    return torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active()
