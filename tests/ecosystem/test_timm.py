"""A ViT of timm as a backbone: frozen and fine-tuned as by a loop written by hand."""

import pytest
import timm
import torch
from backbones import (
    FORMS,
    PICTURES,
    by_torch_module,
    check_files,
    check_fine_tuned,
    check_frozen,
    check_frozen_then_fine_tuned,
    check_in_evaluation_while_it_trains,
    model_around,
)
from shared import LABELS, fit, values
from torch import nn

pytestmark = pytest.mark.slow


def vit(**options) -> nn.Module:
    """Small and without pretrained weights."""
    size = {"img_size": 32, "patch_size": 8, "embed_dim": 48, "depth": 3, "num_heads": 3}
    return timm.create_model("vit_tiny_patch16_224", num_classes=0, **size, **options)


def dropping() -> nn.Module:
    """With dropout and stochastic depth, which draw the same numbers in both loops."""
    return vit(proj_drop_rate=0.1, drop_path_rate=0.2)


@pytest.mark.parametrize("make", [vit, dropping])
@pytest.mark.parametrize("form", FORMS)
def test_fine_tuned(form, make):
    check_fine_tuned(make, form)


@pytest.mark.parametrize("training", [None, False])
@pytest.mark.parametrize("form", FORMS)
def test_frozen(form, training):
    check_frozen(vit, form, training)


@pytest.mark.parametrize("form", FORMS)
def test_dropout_is_off_in_evaluation_while_it_trains(form):
    check_in_evaluation_while_it_trains(dropping, form)


@pytest.mark.parametrize("form", FORMS)
def test_frozen_then_fine_tuned(form):
    check_frozen_then_fine_tuned(vit, form)


@pytest.mark.parametrize("suffix", [".h5", ".weights.h5", ".safetensors", ".pt"])
def test_files(suffix, tmp_path):
    check_files(vit, "TorchModule", tmp_path / f"vit{suffix}")


def test_a_backbone_frozen_but_for_its_last_block_by_requires_grad():
    backbone = vit()
    backbone.requires_grad_(False)
    backbone.blocks[-1].requires_grad_(True)
    model = model_around(by_torch_module(backbone, name="vit"))
    before = values(model)
    fit(model, PICTURES, LABELS, "sparse_categorical_crossentropy")
    moved = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert moved == {name for name in before if "blocks.2." in name or name.startswith("head.")}


def test_a_head_of_timm_replaced_after_the_graph_was_made():
    backbone = timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, embed_dim=48, depth=1, num_heads=3)
    model = model_around(by_torch_module(backbone))
    backbone.head = nn.Sequential(nn.Linear(48, 20), nn.GELU(), nn.Linear(20, 1000))
    before = values(model)
    fit(model, PICTURES, LABELS, "sparse_categorical_crossentropy")
    assert any("head.2.weight" in name for name in before)
    assert all(not torch.equal(value, before[name]) for name, value in model.state_dict().items())
