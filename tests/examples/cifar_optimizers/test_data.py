"""Digits, generated images, augmentation, wrong labels and fewer images."""

import dataclasses
import math

import pytest
import torch

from examples.cifar_optimizers import generated_images
from examples.cifar_optimizers.data_sources import load_digits
from examples.cifar_optimizers.generated_images import (
    best_accuracy,
    draw_images,
    generate_images,
    make_templates,
)
from examples.cifar_optimizers.image_data import (
    FromPixels,
    draw_moves,
    exact_share,
    keep_fraction,
    moved,
    noise_floor,
    normalised,
    redraw_labels,
)
from examples.cifar_optimizers.options import resolve
from examples.cifar_optimizers.train import load_for_training


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_digits_are_split_by_class_and_always_alike():
    data = load_digits(16)
    assert len(data.train_labels) + len(data.test_labels) == 1797
    assert data.train_images.shape[1:] == (3, 16, 16)
    assert data.train_images.dtype == torch.uint8
    shares = data.test_labels.bincount() / (data.test_labels.bincount() + data.train_labels.bincount())
    assert ((shares > 0.19) & (shares <= 0.2)).all()
    torch.manual_seed(123)
    assert load_digits(16).fingerprint() == data.fingerprint()
    train = {image.numpy().tobytes() for image in data.train_images}
    assert not any(image.numpy().tobytes() in train for image in data.test_images)


def test_digits_in_their_own_size_are_unchanged():
    from sklearn.datasets import load_digits as original

    images = torch.tensor(original().images)
    held_out = load_digits(8).test_images[0, 0]
    first_of_its_class = images[original().target == load_digits(8).test_labels[0].item()][4]
    assert torch.equal(held_out, (first_of_its_class * 255 / 16).round().to(torch.uint8))


def test_network_input_is_normalised():
    data = load_digits(16)
    inputs = normalised(data.train_images, data.mean, data.std)
    assert inputs.dtype == torch.float32
    assert inputs.mean().item() == pytest.approx(0, abs=1e-4)
    assert inputs.std().item() == pytest.approx(1, abs=1e-2)  # the scale was fitted before rounding to uint8
    assert torch.equal(normalised(data.train_images[:9], data.mean, data.std), inputs[:9])


@pytest.mark.parametrize(
    ("classes", "signal", "published"),
    [
        (10, 0, 0.1),  # chance
        (10, 3, 0.9025),
        (10, 4, 0.9832),
        (10, 5, 0.9983),
        (100, 4, 0.9146),
        (100, 5, 0.9882),
        (2, 20, 1.0),
    ],
)
def test_best_accuracy_in_closed_form(classes, signal, published):
    assert best_accuracy(classes, signal) == pytest.approx(published, abs=5e-5)


@pytest.mark.slow
def test_the_optimal_rule_reaches_the_best_accuracy():
    templates = make_templates(10, 16, seeded())
    images, labels = draw_images(templates, 3.0, 20_000, seeded(1))
    accuracy = ((images.flatten(1) @ templates.T).argmax(1) == labels).float().mean().item()
    deviation = math.sqrt(0.9025 * (1 - 0.9025) / 20_000)
    assert accuracy == pytest.approx(0.9025, abs=4 * deviation)


def test_templates_are_orthonormal_and_smooth():
    templates = make_templates(10, 16, seeded())
    assert torch.allclose(templates @ templates.T, torch.eye(10), atol=1e-5)
    images = templates.view(10, 3, 16, 16)
    steps = (images[..., 1:] - images[..., :-1]).square().mean() / images.square().mean()
    assert steps < 0.3  # 2 for white noise


def test_generated_data_do_not_depend_on_the_seed():
    torch.manual_seed(1)
    first = generate_images(8)
    torch.manual_seed(2)
    again = generate_images(8)
    assert torch.equal(again.train_images, first.train_images)
    assert torch.equal(again.test_labels, first.test_labels)
    assert again.best_accuracy == best_accuracy(10, generated_images.SIGNAL)


def test_fingerprints_notice_other_data_but_not_another_machine():
    digits, generated = load_digits(8), generate_images(8)
    before = digits.fingerprint()
    digits.test_images[3, 0, 5, 5] += 1
    assert digits.fingerprint() != before
    before = generated.fingerprint()
    generated.train_images *= 1 + 1e-7  # another linear algebra library rounds differently
    assert generated.fingerprint() == before
    generated.train_labels[0] += 1
    assert generated.fingerprint() != before


def crop_and_flip(images, padding, *, flip):
    """Return images, moved at random."""
    data = dataclasses.replace(generate_images(8), crop_padding=padding, flip=flip)
    return moved(images, draw_moves(data, images), padding)


@pytest.mark.slow
def test_crops_are_shifts_filled_with_black():
    images = torch.arange(1, 2 * 3 * 6 * 6 + 1, dtype=torch.float32).view(2, 3, 6, 6)
    padded = torch.nn.functional.pad(images, (2, 2, 2, 2))
    torch.manual_seed(0)
    seen = set()
    for _ in range(200):
        cropped = crop_and_flip(images, 2, flip=False)
        assert cropped.is_contiguous()
        for index in range(2):
            matches = [
                (top, left)
                for top in range(5)
                for left in range(5)
                if torch.equal(cropped[index], padded[index, :, top : top + 6, left : left + 6])
            ]
            assert len(matches) == 1  # one shift for all three channels
            seen.add((index, matches[0]))
    assert len(seen) == 50  # every image gets every shift


def test_crops_and_flips_together_are_flips_of_crops():
    images = torch.randint(0, 256, (64, 3, 6, 6), dtype=torch.uint8)
    torch.manual_seed(5)
    cropped = crop_and_flip(images, 2, flip=False)
    torch.manual_seed(5)
    both = crop_and_flip(images, 2, flip=True)
    same = (both == cropped).flatten(1).all(1)
    mirrored = (both == cropped.flip(3)).flatten(1).all(1)
    assert (same ^ mirrored).all()
    assert 10 < mirrored.sum() < 54


def test_digits_are_shifted_and_never_flipped():
    data = load_digits(16)
    assert data.crop_padding == 1
    assert not data.flip


def test_pixels_become_what_the_network_learns_from():
    """Moved as bytes, then normalised; a network alone gets the same from held-out images."""
    data = load_digits(16)
    images, inputs = data.train_images[:64], FromPixels(torch.nn.Identity(), data)
    moves = draw_moves(data, images)
    assert torch.equal(inputs(images), normalised(images, data.mean, data.std))
    assert torch.equal(inputs(images, moves), normalised(moved(images, moves, 1), data.mean, data.std))
    assert not torch.equal(inputs(images, moves), inputs(images))


@pytest.mark.parametrize(("share", "count"), [(0.0, 0), (0.2, 200), (0.2999, 299), (0.29, 290), (0.999, 999)])
def test_label_noise_changes_exactly_the_floor_of_the_share(share, count):
    labels = torch.arange(1000) % 10
    noisy = redraw_labels(labels, share, 10, seeded())
    assert (noisy != labels).sum() == count
    assert noisy.min() >= 0
    assert noisy.max() <= 9
    assert torch.equal(labels, torch.arange(1000) % 10)  # the original is untouched


def test_the_floor_is_exact():
    assert math.floor(0.29 * 100) == 28  # what floats give
    assert exact_share(0.29, 100) == 29
    assert exact_share(0.3, 10) == 3
    assert exact_share(1e-5, 100) == 0


def test_wrong_labels_are_spread_over_all_other_classes():
    noisy = redraw_labels(torch.full((9000,), 3), 0.999, 10, seeded())
    counts = noisy.bincount(minlength=10)
    assert counts[3] == 9000 - exact_share(0.999, 9000)
    others = torch.cat([counts[:3], counts[4:]])
    assert ((others > 850) & (others < 1150)).all()  # 999 expected, deviation 30


def test_label_noise_depends_on_the_seed_alone():
    labels = torch.arange(100) % 10
    first, again, other = (redraw_labels(labels, 0.3, 10, seeded(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again) and not torch.equal(first, other)


@pytest.mark.parametrize(
    ("share", "classes", "accuracy", "loss"),
    [(0.2, 10, 0.8, 0.9398), (0.3, 10, 0.7, 1.270), (0.2, 100, 0.8, 1.4194), (0.0, 10, 1.0, 0.0)],
)
def test_floors_of_noisy_labels(share, classes, accuracy, loss):
    assert noise_floor(share, classes) == (pytest.approx(accuracy), pytest.approx(loss, abs=6e-4))


def test_the_floor_with_label_smoothing_is_what_pytorch_computes():
    """Predict the true distribution of noisy labels, smoothed: no prediction has a lower expected loss."""
    share, classes, smoothing = 0.3, 100, 0.1
    own = (1 - smoothing) * (1 - share) + smoothing / classes
    best = torch.full((1, classes), (1 - own) / (classes - 1))
    best[0, 0] = own

    def expected_loss(prediction):
        scores, labels = prediction.log().expand(classes, -1), torch.arange(classes)
        losses = torch.nn.functional.cross_entropy(
            scores, labels, label_smoothing=smoothing, reduction="none"
        )
        return ((1 - share) * losses[0] + share * losses[1:].mean()).item()

    floor = noise_floor(share, classes, smoothing)[1]
    assert expected_loss(best) == pytest.approx(floor, abs=1e-4)
    for seed in range(5):
        other = (best.log() + 0.2 * torch.randn(1, classes, generator=seeded(seed))).softmax(1)
        assert expected_loss(other) > floor


def test_data_fraction_is_taken_of_each_class():
    labels = torch.cat([torch.zeros(100), torch.ones(50), torch.full((3,), 2)]).long()
    kept = keep_fraction(labels, 0.2, seeded())
    assert labels[kept].bincount().tolist() == [20, 10, 1]
    assert torch.equal(kept, kept.unique())
    assert not torch.equal(kept, keep_fraction(labels, 0.2, seeded(1)))
    assert keep_fraction(labels, 1e-6, seeded()).numel() == 3


def test_noise_and_fraction_leave_the_held_out_images_alone():
    plain = load_for_training(resolve({}))
    changed = load_for_training(resolve({"label_noise": 0.5, "data_fraction": 0.5}))
    assert torch.equal(plain.test_images, changed.test_images)
    assert torch.equal(plain.test_labels, changed.test_labels)
    assert len(changed.train_labels) == pytest.approx(len(plain.train_labels) / 2, abs=5)
