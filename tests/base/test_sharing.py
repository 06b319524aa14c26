"""What is asked of tensors that processes may share: one interface, with and without other processes."""

import inspect

import pytest
import torch

from torchkeras.distribution import shared_tensors
from torchkeras.world.one_process import WholeTensors, sharing

NAMES = [name for name in vars(WholeTensors) if not name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_processes_answer_what_one_process_answers(name: str) -> None:
    alone = list(inspect.signature(getattr(WholeTensors(), name)).parameters)
    assert list(inspect.signature(getattr(shared_tensors, name)).parameters) == alone


def test_one_process_has_every_tensor_whole() -> None:
    tensor, tensors = torch.ones(2, 3), [torch.zeros(2), torch.ones(3)]
    assert type(sharing()) is WholeTensors
    assert sharing().part(tensor) is tensor
    assert list(map(id, sharing().wholes(tensors))) == list(map(id, tensors))
    assert sharing().parts([None, tensor]) == [None, tensor]
    assert not sharing().is_sharded(tensor)
    assert sharing().shared_in(tensors) == []
    with sharing().collected([]) as writes:
        assert writes
