"""einops on symbolic tensors, with known and unknown axes, equal to einops on tensors."""

import einops
import pytest
import torch

from torchkeras import Input, Model
from torchkeras.models import clone_model, model_from_json

pytestmark = pytest.mark.slow

IMAGES, SERIES = torch.rand(2, 4, 6, 3), torch.rand(2, 6, 8)
PATTERNS = [
    (IMAGES, lambda x: einops.rearrange(x, "b h w c -> b (h w) c")),
    (IMAGES, lambda x: einops.rearrange(x, "b h w c -> b c h w")),
    (IMAGES, lambda x: einops.rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=3)),
    (IMAGES, lambda x: einops.reduce(x, "b h w c -> b c", "mean")),
    (IMAGES, lambda x: einops.reduce(x, "b (h 2) (w 2) c -> b h w c", "max")),
    (SERIES, lambda x: einops.rearrange(x, "b t (h d) -> b h t d", h=2)),
    (SERIES, lambda x: einops.rearrange(x, "b (t p) d -> (b t) p d", p=2)),
    (SERIES, lambda x: einops.repeat(x, "b t d -> b t k d", k=3)),
    (SERIES, lambda x: einops.einsum(x, x, "b i d, b j d -> b i j")),
]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(("tensor", "compute"), PATTERNS)
def test_as_on_tensors(tensor, compute, known):
    inner = tensor.shape[1:-1] if known else (None,) * (tensor.dim() - 2)
    x = Input((*inner, tensor.shape[-1]))
    model, expected = Model(x, compute(x)), compute(tensor)
    for each in (model, model_from_json(model.to_json()), clone_model(model)):
        torch.testing.assert_close(each(tensor), expected)
