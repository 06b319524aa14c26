"""Tests with other packages: `scripts/ecosystem` installs these and runs all of them.

In an environment without a package its file is not collected, and `tests/conftest.py` says so.
"""

import importlib.util

import torch

if importlib.util.find_spec("torchvision") and torch.version.cuda is None:
    # Its package is built for CUDA: beside a torch for CPUs its operators are missing, and it asks for two of them when
    # it is imported. No test here runs one.
    OPERATORS = torch.library.Library("torchvision", "FRAGMENT")
    if not hasattr(torch.ops.torchvision, "nms"):
        OPERATORS.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        OPERATORS.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
