"""Learning rates by callbacks: once an epoch, once a batch, and the search for one."""

import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from callback_models import FakeModel, X, Y, drive, small

from torchkeras.callbacks import (
    CosineAnnealing,
    LambdaCallback,
    LearningRateScheduler,
    Logs,
    OneCycle,
    ReduceLROnPlateau,
)
from torchkeras.callbacks.schedules import BatchSchedule


def exactly(message):
    return f"^{re.escape(message)}$"


# --- once an epoch ---------------------------------------------------------------------------------------------------


def test_rates_of_epochs_train_the_model_and_stand_in_the_history():
    model, frozen = small(), small()
    history = model.fit(X, Y, epochs=2, verbose=0, callbacks=[LearningRateScheduler(lambda epoch: 0.5 * epoch)]).history
    assert history["lr"] == [0.0, 0.5]
    assert history["loss"][0] == pytest.approx(history["loss"][1], rel=1e-6)  # summed in another order
    assert not np.array_equal(model.get_weights()[0], frozen.get_weights()[0])


def test_a_schedule_that_is_set_later_may_take_the_rate():
    scheduler = LearningRateScheduler(lambda epoch: 0.5)
    scheduler.schedule = lambda epoch, lr: lr / 2
    model = small()
    before = model.optimizer.lr
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[scheduler])
    assert model.optimizer.lr == pytest.approx(before / 4)


def test_what_rates_say(capsys):
    drive([LearningRateScheduler(lambda epoch, lr: lr / 2, verbose=1)])
    drive([ReduceLROnPlateau("loss", patience=1, verbose=1)], numbers=lambda epoch: {"loss": 1.0})
    assert capsys.readouterr().out == (
        "Epoch 1: the learning rate is 0.5.\n"
        "Epoch 2: the learning rate is 0.25.\n"
        "Epoch 2: loss is on a plateau, the learning rate is 0.1 now.\n"
    )


def test_an_error_inside_a_schedule_is_shown():
    def schedule(epoch, lr):
        return "a" + 1  # type: ignore[operator]

    with pytest.raises(TypeError, match="can only concatenate str"):
        drive([LearningRateScheduler(schedule)])


def test_a_schedule_that_python_cannot_look_into_gets_both():
    message = "LearningRateScheduler: schedule must give a float; for epoch 1 it gave 1."
    with pytest.raises(ValueError, match=exactly(message)):
        drive([LearningRateScheduler(max)])  # max(0, 1.0) is a float, max(1, 1.0) is none; max(0) would be a TypeError
    drive([LearningRateScheduler(lambda epoch, lr: np.float64(lr))])


def test_schedules_refuse():
    with pytest.raises(
        TypeError,
        match=exactly("LearningRateScheduler: schedule must be a function of (epoch, lr) or (epoch); found 0.1."),
    ):
        LearningRateScheduler(0.1)  # type: ignore[arg-type]
    model = FakeModel()
    del model.optimizer.lr
    message = "{}: the model's optimizer must have an `lr`; found FakeOptimizer."
    for made in (LearningRateScheduler(float), ReduceLROnPlateau(), OneCycle(1.0)):
        with pytest.raises(ValueError, match=exactly(message.format(type(made).__name__))):
            drive([made], model)
    model.optimizer.lr = abs  # type: ignore[assignment]
    message = (
        "{}: the optimizer's lr is a builtin_function_or_method, which this callback would replace; give the optimizer "
        "a number."
    )
    for made in (LearningRateScheduler(float), ReduceLROnPlateau(), OneCycle(1.0), CosineAnnealing()):
        with pytest.raises(ValueError, match=exactly(message.format(type(made).__name__))):
            drive([made], model)
    model.optimizer = None  # type: ignore[assignment]
    message = "OneCycle: the model's optimizer must have an `lr`; found no optimizer."
    with pytest.raises(ValueError, match=exactly(message)):
        drive([OneCycle(1.0)], model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": 1.0}, "factor must be a number from 0 to below 1; found 1.0."),
        ({"factor": True}, "factor must be a number from 0 to below 1; found True."),
        ({"patience": -1}, "patience must be an integer of at least 0; found -1."),
        ({"cooldown": 0.5}, "cooldown must be an integer of at least 0; found 0.5."),
        ({"min_lr": -1}, "min_lr must be a number of at least 0; found -1."),
        ({"min_delta": math.inf}, "min_delta must be a finite number; found inf."),
    ],
)
def test_plateaus_refuse(options, message):
    with pytest.raises(ValueError, match=exactly(f"ReduceLROnPlateau: {message}")):
        ReduceLROnPlateau(**options)


def test_the_old_name_of_min_delta_is_warned_of():
    with pytest.warns(
        UserWarning, match=exactly("ReduceLROnPlateau: the `epsilon` argument is deprecated; it is called min_delta.")
    ):
        assert ReduceLROnPlateau(epsilon=0.5).min_delta == 0.5


def test_a_plateau_goes_on_after_a_stop():
    losses = [3.0, 3.0, 2.0, 2.0, 2.0, 1.0]

    def rates(*parts):
        model, seen, state = FakeModel(), [], None
        for part in parts:
            plateau = ReduceLROnPlateau("loss", 0.5, patience=2, cooldown=1)
            plateau.model = model
            plateau.on_train_begin()
            if state:
                plateau.load_state_dict(state)
            for loss in part:
                plateau.on_epoch_end(0, {"loss": loss})
                seen.append(model.optimizer.lr)
            state = plateau.state_dict()
        return seen

    assert rates(losses) == rates(losses[:4], losses[4:]) == [1.0, 1.0, 1.0, 1.0, 0.5, 0.5]


# --- once a batch ----------------------------------------------------------------------------------------------------


def rates_of(callback, model=None, names=("lr",), epochs=2, steps=5, **params):
    """What a schedule sets, batch by batch."""
    model = model or FakeModel()
    seen = []
    look = LambdaCallback(
        on_train_batch_begin=lambda b, logs: seen.append(tuple(getattr(model.optimizer, name) for name in names))
    )
    drive([callback, look], model, epochs=epochs, steps=steps, **params)
    return [each[0] for each in seen] if len(names) == 1 else seen


@pytest.mark.parametrize(
    "options", [{}, {"pct_start": 0.5, "div_factor": 10.0, "final_div_factor": 5.0}, {"anneal": "linear"}]
)
@pytest.mark.parametrize("momentum", ["beta_1", "momentum"])
def test_one_cycle_is_torch_s(options, momentum):
    named = {"anneal": "anneal_strategy"}
    renamed: Any = {named.get(name, name): value for name, value in options.items()}
    theirs = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(theirs, 2.0, total_steps=20, **renamed)
    wanted = []
    for _ in range(20):
        wanted.append((theirs.param_groups[0]["lr"], theirs.param_groups[0]["momentum"]))
        theirs.step()
        schedule.step() if len(wanted) < 20 else None
    model = FakeModel(**{momentum: 0.9})
    found = rates_of(OneCycle(2.0, **options), model, ("lr", momentum), epochs=4)
    torch.testing.assert_close(torch.tensor(found, dtype=torch.float64), torch.tensor(wanted, dtype=torch.float64))


def test_one_cycle_leaves_momentum_alone_when_told():
    model = FakeModel(beta_1=0.9)
    assert set(rates_of(OneCycle(1.0, cycle_momentum=False), model, ("beta_1",))) == {0.9}
    assert not hasattr(FakeModel().optimizer, "beta_1")
    rates_of(OneCycle(1.0))


@pytest.mark.parametrize("growth", [1, 2, 3])
def test_cosine_annealing_is_torch_s(growth):
    theirs = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(theirs, 3, growth, eta_min=0.25)
    wanted = []
    for _ in range(30):
        wanted.append(theirs.param_groups[0]["lr"])
        theirs.step()
        schedule.step()
    found = rates_of(CosineAnnealing(min_lr=0.25, period=3, growth=growth), epochs=6)
    torch.testing.assert_close(torch.tensor(found, dtype=torch.float64), torch.tensor(wanted, dtype=torch.float64))


def test_cosine_annealing_over_all_steps():
    found = rates_of(CosineAnnealing(max_lr=2.0, min_lr=1.0, warmup=2))
    expected = [1.0, 2.0, *(1.5 + 0.5 * math.cos(math.pi * step / 8) for step in range(8))]
    assert found == pytest.approx(expected, rel=1e-12)
    assert rates_of(CosineAnnealing(steps=4), epochs=1, steps=6)[4:] == [0.0, 0.0]


def test_the_data_tells_the_steps():
    wanted = rates_of(OneCycle(1.0, steps=6), epochs=2, steps=3)
    assert rates_of(OneCycle(1.0), epochs=2, steps=3) == wanted
    model = small("adam")
    seen = []
    look = LambdaCallback(on_batch_begin=lambda batch, logs: seen.append(model.optimizer.lr))
    schedule = OneCycle(1.0)
    history = model.fit(X, Y, batch_size=10, epochs=2, verbose=0, callbacks=[schedule, look]).history
    assert seen == wanted
    assert history["lr"] == [wanted[2], wanted[5]]


def test_a_schedule_begins_at_the_initial_epoch_and_goes_on_after_a_stop():
    whole = rates_of(CosineAnnealing(), epochs=3, steps=4)
    model, seen = FakeModel(), []
    schedule, other = CosineAnnealing(), CosineAnnealing()
    for each in (schedule, other):
        each.set_params({"epochs": 3, "steps": 4})
        each.set_model(model)
        each.on_train_begin()
    schedule.on_epoch_begin(1)
    for batch in range(2):
        schedule.on_train_batch_begin(batch)
        seen.append(model.optimizer.lr)
    other.top = None
    other.load_state_dict(schedule.state_dict())
    for batch in range(2, 4):
        other.on_train_batch_begin(batch)
        seen.append(model.optimizer.lr)
    assert schedule.state_dict() == {"step": 6, "top": 1.0}
    assert seen == whole[4:8]


def test_unknown_steps_are_asked_for():
    message = "OneCycle: give `steps`, since the data does not say how many batches it has."
    with pytest.raises(ValueError, match=exactly(message)):
        rates_of(OneCycle(1.0), steps=0)
    assert len(rates_of(CosineAnnealing(period=2), steps=0)) == 0


def test_a_schedule_of_one_s_own():
    class Halving(BatchSchedule):
        steps = 1

        def rate(self, step):
            return 0.5**step

    assert rates_of(Halving(), epochs=1, steps=3) == [1.0, 0.5, 0.25]
    with pytest.raises(NotImplementedError, match=exactly("BatchSchedule has no rate(step).")):
        rates_of(BatchSchedule())


def test_schedules_read_nothing():
    optimizer = FakeModel()
    schedule = OneCycle(1.0)
    drive([schedule], optimizer)
    logs = Logs(loss=lambda: pytest.fail("read"))
    schedule.on_train_batch_begin(0, logs)
    schedule.on_epoch_end(0, logs)
    assert logs["lr"] == optimizer.optimizer.lr


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: OneCycle(0), "OneCycle: max_lr must be a number above 0; found 0."),
        (lambda: OneCycle(1, div_factor=0), "OneCycle: div_factor must be a number above 0; found 0."),
        (lambda: OneCycle(1, final_div_factor=-1), "OneCycle: final_div_factor must be a number above 0; found -1."),
        (lambda: OneCycle(1, pct_start=1), "OneCycle: pct_start must be a number from 0 to below 1; found 1."),
        (lambda: OneCycle(1, base_momentum=2), "OneCycle: base_momentum must be a number from 0 to below 1; found 2."),
        (lambda: OneCycle(1, max_momentum=1), "OneCycle: max_momentum must be a number from 0 to below 1; found 1."),
        (lambda: OneCycle(1, steps=0), "OneCycle: steps must be an integer of at least 1, or None; found 0."),
        (lambda: OneCycle(1, anneal="sin"), "OneCycle: anneal must be one of 'cos', 'linear'; found 'sin'."),
        (lambda: CosineAnnealing(-1), "CosineAnnealing: max_lr must be a number of at least 0, or None; found -1."),
        (
            lambda: CosineAnnealing(min_lr=math.nan),
            "CosineAnnealing: min_lr must be a number of at least 0; found nan.",
        ),
        (
            lambda: CosineAnnealing(steps=0),
            "CosineAnnealing: steps must be an integer of at least 1, or None; found 0.",
        ),
        (lambda: CosineAnnealing(warmup=-1), "CosineAnnealing: warmup must be an integer of at least 0; found -1."),
        (
            lambda: CosineAnnealing(period=0),
            "CosineAnnealing: period must be an integer of at least 1, or None; found 0.",
        ),
        (
            lambda: CosineAnnealing(period=1, growth=0),
            "CosineAnnealing: growth must be an integer of at least 1; found 0.",
        ),
        (
            lambda: CosineAnnealing(growth=2),
            "CosineAnnealing: growth needs a period, after which the cosine starts again; found 2 alone.",
        ),
    ],
)
def test_schedules_of_batches_refuse(made, message):
    with pytest.raises(ValueError, match=exactly(message)):
        made()
