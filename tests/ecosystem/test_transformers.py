"""Encoders of transformers in graphs, and its Trainer on models."""

import copy

import numpy as np
import pytest
import torch
from shared import BATCH, RANDOM, STEPS, TARGETS, assert_equal_states, dense_model
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset
from transformers import BertConfig, BertModel, Trainer, TrainingArguments

from torchkeras import Input, Model
from torchkeras.layers import Concatenate, Dense, Layer, TorchModule
from torchkeras.models import load_model

pytestmark = pytest.mark.slow

WORDS = RANDOM.integers(0, 30, (BATCH * STEPS, 7))
MASK = (np.arange(7) < RANDOM.integers(2, 8, (BATCH * STEPS, 1))).astype("int64")
PAIR = RANDOM.standard_normal((BATCH * STEPS, 2, 4)).astype("float32")


def encoder(attention="sdpa"):
    torch.manual_seed(3)
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    dropouts = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = BertConfig(vocab_size=30, max_position_embeddings=64, attn_implementation=attention, **sizes, **dropouts)
    return BertModel(config, add_pooling_layer=False)


def by_name(bert, words, mask):
    return TorchModule(bert, name="bert")(words, attention_mask=mask)


def by_position(bert, words, mask):
    return TorchModule(bert, name="bert")(words, mask)


class Encoder(Layer):
    """Around an encoder whose code looks at values, which is not run for its shapes."""

    def __init__(self, bert, **options):
        super().__init__(**options)
        self.bert = bert

    def call(self, words, attention_mask):
        return self.bert(words, attention_mask=attention_mask).last_hidden_state

    def compute_output_shape(self, input_shape):
        return (*input_shape, 8)


def classifier(bert, call=by_name, length=7):
    words, mask = Input((length,), dtype="int64", name="words"), Input((length,), dtype="int64", name="mask")
    return Model([words, mask], Dense(4)(call(bert, words, mask).last_hidden_state[:, 0]))


class Plain(nn.Module):
    def __init__(self, bert, head):
        super().__init__()
        self.bert, self.head = bert, head

    def forward(self, words, mask):
        return self.head(self.bert(words, attention_mask=mask).last_hidden_state[:, 0])


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("call", [by_name, by_position])
def test_an_encoder_with_a_mask_trains_as_in_plain_pytorch(call, attention):
    model = classifier(encoder(attention), call)
    plain = Plain(encoder(attention), copy.deepcopy(model.layers[-1].linear)).train()
    model.compile(torch.optim.SGD(model.parameters(), 0.1), "mse")
    model.fit([WORDS, MASK], TARGETS, batch_size=BATCH, shuffle=False, verbose=0)
    optimizer = torch.optim.SGD(plain.parameters(), 0.1)
    for rows in np.split(np.arange(BATCH * STEPS), STEPS):
        optimizer.zero_grad()
        words, mask, targets = (torch.from_numpy(each[rows]) for each in (WORDS, MASK, TARGETS))
        F.mse_loss(plain(words, mask), targets).backward()
        optimizer.step()
    assert_equal_states(model, plain)


def test_an_encoder_takes_texts_of_any_length():
    model, bert = classifier(encoder(), length=None).eval(), encoder().eval()
    for length in (3, 11):
        words, mask = torch.from_numpy(np.tile(WORDS, 2)[:, :length]), torch.ones(BATCH * STEPS, length).long()
        hidden = bert(words, attention_mask=mask).last_hidden_state[:, 0]
        torch.testing.assert_close(model(words, mask), model.layers[-1](hidden))


@pytest.mark.parametrize("suffix", ["h5", "safetensors", "pt"])
def test_an_encoder_comes_back_from_a_file(suffix, tmp_path):
    model = classifier(encoder())
    model.compile("adam", "mse")
    model.fit([WORDS, MASK], TARGETS, batch_size=BATCH, verbose=0)
    model.save(tmp_path / f"model.{suffix}")
    again = load_model(tmp_path / f"model.{suffix}", custom_objects={"bert": encoder()})
    np.testing.assert_array_equal(again.predict([WORDS, MASK]), model.predict([WORDS, MASK]))


def test_a_layer_around_an_encoder_says_its_shape():
    words, mask = Input((7,), dtype="int64"), Input((7,), dtype="int64")
    layer = Encoder(encoder())
    model = Model([words, mask], layer(words, mask)).eval()
    assert model.output_shape == (None, 7, 8)
    given = torch.from_numpy(WORDS), torch.from_numpy(MASK)
    torch.testing.assert_close(model(*given), encoder().eval()(*given).last_hidden_state)


class Columns(Dataset):
    """Rows with a column that no model takes."""

    def __init__(self, **columns):
        self.columns = {**columns, "note": torch.zeros(BATCH * STEPS)}

    def __len__(self):
        return BATCH * STEPS

    def __getitem__(self, index):
        return {name: values[index] for name, values in self.columns.items()}


class Regression(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **options):
        targets = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.mse_loss(outputs, targets)
        return (loss, outputs) if return_outputs else loss


def of_rows():
    return dense_model(), [RANDOM.standard_normal((BATCH * STEPS, 6)).astype("float32")]


def of_two():
    first, second = Input((4,), name="first"), Input((4,), name="second")
    return Model([first, second], Dense(4)(Concatenate()([first, second]))), list(PAIR.transpose(1, 0, 2).copy())


class OwnCode(Model):
    def __init__(self):
        super().__init__()
        self.dense = Dense(4)

    def call(self, first, second):
        return self.dense(first * second)


def of_own_code():
    model, data = OwnCode(), list(PAIR.transpose(1, 0, 2).copy())
    model(*map(torch.from_numpy, data))
    return model, data


@pytest.mark.parametrize("make", [of_rows, of_two, of_own_code])
def test_the_trainer_takes_a_model_and_its_columns_by_name(make, tmp_path):
    model, data = make()
    twin = copy.deepcopy(model)
    names = ["first", "second"] if len(data) > 1 else model.input_names
    rows = Columns(labels=torch.from_numpy(TARGETS), **dict(zip(names, map(torch.from_numpy, data), strict=True)))
    options = {"use_cpu": True, "report_to": [], "disable_tqdm": True, "seed": 0, "label_names": ["labels"]}
    steps = {"max_steps": STEPS, "per_device_train_batch_size": len(rows), "lr_scheduler_type": "constant"}
    arguments = TrainingArguments(str(tmp_path), optim="sgd", learning_rate=0.1, max_grad_norm=0.0, **options, **steps)
    trainer = Regression(model=model, args=arguments, train_dataset=rows, eval_dataset=rows)
    batch = next(iter(trainer.get_train_dataloader()))
    assert set(batch) == {*names, "labels"}  # and no other column
    trainer.train()
    optimizer, inputs = torch.optim.SGD(twin.parameters(), 0.1), tuple(map(torch.from_numpy, data))
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.mse_loss(twin(*inputs), torch.from_numpy(TARGETS))
        loss.backward()
        optimizer.step()
    assert_equal_states(model, twin)
    trainer.save_model(str(tmp_path / "saved"))
    twin.load_weights(tmp_path / "saved" / "model.safetensors")
    assert_equal_states(twin, model, atol=0)
    assert trainer.evaluate()["eval_loss"] == pytest.approx(F.mse_loss(twin(*inputs), torch.from_numpy(TARGETS)).item())
