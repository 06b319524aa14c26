"""Lets torchvision be imported with a torch for CPUs.

Its package is built for CUDA: there its own operators are missing, and it asks for two of them when it is imported. No
test here runs one.
"""

import importlib.util

import torch

OPERATORS = torch.library.Library("torchvision", "FRAGMENT")

if importlib.util.find_spec("torchvision") and torch.version.cuda is None:
    OPERATORS.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    OPERATORS.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
