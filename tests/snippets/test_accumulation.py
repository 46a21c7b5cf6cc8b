"""Gradient accumulation: equal to the large batch up to rounding, and where it is not."""

import weakref
from itertools import count as numbers
from itertools import islice

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from snippets.accumulation_mistakes import update_at_the_wrong_moment
from snippets.checkpoints import TrainingState
from snippets.training_step import in_groups, in_parts, optimizer_step

CPU = torch.device("cpu")
SAMPLES = 12
NO_SCALER = torch.amp.GradScaler("cpu", enabled=False)


def make_model(*extra, dtype=torch.float64):
    torch.manual_seed(4)
    return nn.Sequential(nn.Linear(5, 16), *extra, nn.Tanh(), nn.Linear(16, 3)).to(dtype)


def make_batch(samples=SAMPLES, dtype=torch.float64):
    torch.manual_seed(5)
    return torch.randn(samples, 5, dtype=dtype), torch.randint(3, (samples,))


def measure_with(model):
    """Return the measure of a part: mean loss and share of right answers."""

    def measure(part):
        inputs, labels = part
        scores = model(inputs)
        right = (scores.argmax(1) == labels).double().mean()
        return torch.stack([F.cross_entropy(scores, labels), right])

    return measure


def gradients(model):
    return [parameter.grad.clone() for parameter in model.parameters()]


def accumulate(measure, batch, sizes, scaler=NO_SCALER):
    """Do what the training steps of the examples do, up to the optimizer's step."""
    total = 0.0
    for part, share in in_parts(batch, sizes):
        measures = share * measure(part)
        scaler.scale(measures[0]).backward()
        total += measures.detach()
    return total


def gradients_of_parts(model, batch, sizes, scaler=NO_SCALER):
    model.zero_grad()
    return accumulate(measure_with(model), batch, sizes, scaler), gradients(model)


def gradients_at_once(model, batch):
    model.zero_grad()
    measures = measure_with(model)(batch)
    measures[0].backward()
    return measures.detach(), gradients(model)


def make_state(model, lr=0.1, scaler=NO_SCALER, make=torch.optim.SGD):
    optimizer = make(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.5**step)
    return TrainingState(model, [optimizer], [scheduler], CPU, scaler=scaler)


# ---- The gradient ----


@pytest.mark.parametrize("sizes", [[6, 6], [4, 4, 4], [1] * 12, [5, 5, 2], [7, 5], [11, 1]])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-14), (torch.float32, 1e-6)])
def test_parts_give_the_gradient_of_the_whole(sizes, dtype, tolerance):
    model, batch = make_model(dtype=dtype), make_batch(dtype=dtype)
    expected, whole = gradients_at_once(model, batch)
    found, summed = gradients_of_parts(model, batch, sizes)
    torch.testing.assert_close(found, expected.to(found.dtype), rtol=0, atol=tolerance)
    for part, reference in zip(summed, whole, strict=True):
        torch.testing.assert_close(part, reference, rtol=0, atol=tolerance)


def test_one_part_is_ordinary_training_to_the_last_bit():
    model, batch = make_model(dtype=torch.float32), make_batch(dtype=torch.float32)
    _, whole = gradients_at_once(model, batch)
    _, summed = gradients_of_parts(model, batch, [SAMPLES])
    assert all(map(torch.equal, summed, whole))


def test_a_mean_over_tokens_is_weighted_by_tokens():
    """Sequences of 9, 2 and 5 tokens: what counts is what the mean was taken over, tokens or sequences."""
    model, batch = make_model(), make_batch(16)
    _, expected = gradients_at_once(model, batch)
    _, by_tokens = gradients_of_parts(model, batch, [9, 2, 5])
    for part, reference in zip(by_tokens, expected, strict=True):
        torch.testing.assert_close(part, reference, rtol=0, atol=1e-14)
    parts = [gradients_at_once(model, part)[1] for part, _ in in_parts(batch, [9, 2, 5])]
    by_sequences = [torch.stack(list(same)).mean(0) for same in zip(*parts, strict=True)]
    assert max((a - b).abs().max() for a, b in zip(by_sequences, expected, strict=True)) > 0.01


def test_activations_of_only_one_part_are_alive():
    model, batch = make_model(), make_batch()
    earlier = []

    def measure(part):
        assert [reference() for reference in earlier] == [None] * len(earlier)
        scores = model(part[0])
        earlier.append(weakref.ref(scores))
        return F.cross_entropy(scores, part[1]).unsqueeze(0)

    accumulate(measure, batch, 4)
    assert len(earlier) == 3


def test_measures_hold_no_graph():
    found, _ = gradients_of_parts(make_model(), make_batch(), [6, 6])
    assert not found.requires_grad


# ---- What it does not equal ----


def test_batch_normalisation_sees_the_parts():
    norm = nn.BatchNorm1d(16, momentum=1.0)  # the running mean is the mean of the last batch
    model, batch = make_model(norm), make_batch()
    _, whole = gradients_at_once(model, batch)
    mean_of_all = norm.running_mean.clone()
    _, summed = gradients_of_parts(model, batch, [6, 6])
    torch.testing.assert_close(norm.running_mean, model[0](batch[0][6:]).mean(0))
    assert (norm.running_mean - mean_of_all).abs().max() > 0.01
    assert max((a - b).abs().max() for a, b in zip(summed, whole, strict=True)) > 0.01


def test_layer_normalisation_does_not():
    model, batch = make_model(nn.LayerNorm(16)), make_batch()
    _, whole = gradients_at_once(model, batch)
    _, summed = gradients_of_parts(model, batch, [6, 6])
    for part, reference in zip(summed, whole, strict=True):
        torch.testing.assert_close(part, reference, rtol=0, atol=1e-14)


def test_dropout_draws_other_numbers():
    model, batch = make_model(nn.Dropout(0.5), nn.Dropout(0.5)), make_batch()
    torch.manual_seed(9)
    _, whole = gradients_at_once(model, batch)
    torch.manual_seed(9)
    _, again = gradients_at_once(model, batch)
    assert all(map(torch.equal, whole, again))
    torch.manual_seed(9)
    _, summed = gradients_of_parts(model, batch, [6, 6])
    assert max((a - b).abs().max() for a, b in zip(summed, whole, strict=True)) > 0.01


def test_loss_between_samples_differs_in_parts():
    """With 12 samples, each has 11 others to be told from; in parts of 6, it has 5."""
    torch.manual_seed(7)
    embed = nn.Linear(5, 4).double()
    inputs = torch.randn(SAMPLES, 5, dtype=torch.float64)

    def measure(part):
        similarities = embed(part[0]) @ part[0][:, :4].T
        return F.cross_entropy(similarities, torch.arange(len(part[0]))).unsqueeze(0)

    whole, parts = (accumulate(measure, [inputs], size) for size in (SAMPLES, 6))
    assert parts.item() < whole.item() - 0.3


# ---- The update ----


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.AdamW])
def test_training_with_parts_follows_training_with_the_whole(make):
    states = [make_state(make_model(), make=make) for _ in range(2)]
    batches = [make_batch(samples) for samples in (12, 12, 8)]
    for state, size in zip(states, (12, 4), strict=True):
        for batch in batches:
            accumulate(measure_with(state.model), batch, size, state.scaler)
            optimizer_step(state)
    assert states[0].step == states[1].step == 3
    assert states[0].schedulers[0].get_last_lr() == states[1].schedulers[0].get_last_lr() == [0.1 / 8]
    for first, second in zip(*(state.model.parameters() for state in states), strict=True):
        torch.testing.assert_close(first, second, rtol=0, atol=1e-9)


def test_the_gradient_is_clipped_as_a_whole():
    model, batch = make_model(), make_batch()
    state = make_state(model, lr=1.0)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    _, whole = gradients_at_once(model, batch)
    norm = torch.cat([gradient.flatten() for gradient in whole]).norm().item()
    assert norm > 0.1
    gradients_of_parts(model, batch, [4, 4, 4])
    optimizer_step(state, max_norm=0.1)
    moved = torch.cat([(a - b).flatten() for a, b in zip(before, model.parameters(), strict=True)])
    assert moved.norm().item() == pytest.approx(0.1, rel=1e-4)  # PyTorch adds 1e-6 to the norm
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_gradient_below_the_limit_is_not_clipped():
    first, second = make_model(), make_model()
    for model, limit in ((first, None), (second, 1e6)):
        gradients_of_parts(model, make_batch(), [6, 6])
        optimizer_step(make_state(model), max_norm=limit)
    assert all(map(torch.equal, first.parameters(), second.parameters()))


def test_scaling_the_loss_changes_nothing_when_nothing_overflows():
    plain, scaled = make_model(dtype=torch.float32), make_model(dtype=torch.float32)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    for model, used in ((plain, NO_SCALER), (scaled, scaler)):
        gradients_of_parts(model, make_batch(dtype=torch.float32), [6, 6], used)
        optimizer_step(make_state(model, scaler=used), max_norm=0.05)
    for first, second in zip(plain.parameters(), scaled.parameters(), strict=True):
        torch.testing.assert_close(first, second, rtol=1e-6, atol=1e-7)


def test_overflow_in_one_part_skips_the_update():
    model = make_model(dtype=torch.float32)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    state = make_state(model, scaler=scaler)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    inputs, labels = make_batch(dtype=torch.float32)
    inputs[0] = torch.inf  # in the first of two parts
    gradients_of_parts(model, (inputs, labels), [6, 6], scaler)
    optimizer_step(state)
    assert all(map(torch.equal, before, model.parameters()))
    assert state.schedulers[0].get_last_lr() == [0.1]
    assert scaler.get_scale() == 2.0**9
    assert state.step == 1


# ---- Groups ----


@pytest.mark.parametrize(
    ("batches", "size", "expected"),
    [
        (range(6), 3, [[0, 1, 2], [3, 4, 5]]),
        (range(7), 3, [[0, 1, 2], [3, 4, 5], [6]]),  # the last one may be shorter, and is not dropped
        (range(2), 5, [[0, 1]]),
        (range(3), 1, [[0], [1], [2]]),
        ([], 4, []),
    ],
)
def test_groups(batches, size, expected):
    assert list(in_groups(batches, size)) == expected


def test_groups_are_read_as_they_are_needed():
    assert list(islice(in_groups(numbers(), 2), 2)) == [[0, 1], [2, 3]]


# ---- The mistake shown next to it ----


def test_wrong_update_moment_drops_the_last_batches():
    model, used = nn.Linear(1, 1), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    optimizer.register_step_pre_hook(lambda *_: used.append(model.weight.grad.item()))
    ones = torch.ones(1, 1)
    with torch.no_grad():
        model.weight.fill_(1.0)
        model.bias.fill_(0.0)
    batches = [(ones, ones - value) for value in range(1, 9)]  # gradient of batch v: 2 v
    update_at_the_wrong_moment(model, optimizer, batches, 4)
    assert used == [2 / 4, (2 * 2 + 2 * 3 + 2 * 4 + 2 * 5) / 4]  # batch 1 alone; 2 to 5; never 6 to 8
    groups = [sum(2 * value for value in group) / len(group) for group in in_groups(range(1, 9), 4)]
    assert groups == [5.0, 13.0]
