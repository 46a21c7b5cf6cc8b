"""Generated images: smooth templates in noise. The best possible accuracy is known."""

import torch
from torch.nn import functional as F

from examples.cifar_optimizers.image_data import ImageData

CLASSES = 10
SIGNAL = 5.0  # distance of a template from zero, in standard deviations of the noise
TRAIN_IMAGES, TEST_IMAGES = 4000, 1000
DATA_SEED = 0  # the data are the same for every --seed


def make_templates(classes: int, image_size: int, generator: torch.Generator) -> torch.Tensor:
    """Return orthonormal rows (classes, 3·image_size²) that are smooth images. At most 48 classes."""
    coarse = torch.randn(classes, 3, 4, 4, generator=generator)
    smooth = F.interpolate(coarse, size=image_size, mode="bicubic", align_corners=False)
    return torch.linalg.qr(smooth.flatten(1).T).Q.T  # each row is a combination of smooth images


def draw_images(
    templates: torch.Tensor, signal: float, count: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return `count` images (count, 3, size, size) and their labels (count,)."""
    classes, pixels = templates.shape
    labels = torch.randint(classes, (count,), generator=generator)
    noise = torch.randn(count, pixels, generator=generator)
    size = round((pixels / 3) ** 0.5)
    return (signal * templates[labels] + noise).view(count, 3, size, size), labels


# --8<-- [start:best_accuracy]
def best_accuracy(classes: int, signal: float) -> float:
    """Return the accuracy of the best possible classifier, ∫ φ(t) · Φ(t + signal)^(classes - 1) dt.

    The product of an image with its own template is signal + t, with each other one a standard normal; the
    classifier is right when all others are smaller. Trapezoidal rule; the tails beyond ±10 are below 1e-22.
    """
    t = torch.linspace(-10, 10, 20001, dtype=torch.float64)
    density = torch.exp(-t.square() / 2) / (2 * torch.pi) ** 0.5
    return torch.trapezoid(density * torch.special.ndtr(t + signal) ** (classes - 1), t).item()


# --8<-- [end:best_accuracy]


def generate_images(image_size: int) -> ImageData:
    """Return generated training and held-out images of `image_size` × `image_size`."""
    generator = torch.Generator().manual_seed(DATA_SEED)
    templates = make_templates(CLASSES, image_size, generator)
    train_images, train_labels = draw_images(templates, SIGNAL, TRAIN_IMAGES, generator)
    test_images, test_labels = draw_images(templates, SIGNAL, TEST_IMAGES, generator)
    return ImageData(
        name="synthetic",
        source=f"generated: templates in noise, signal {SIGNAL:g}",
        classes=CLASSES,
        train_images=train_images,
        train_labels=train_labels,
        test_images=test_images,
        test_labels=test_labels,
        mean=torch.zeros(3, 1, 1),
        std=torch.ones(3, 1, 1),
        best_accuracy=best_accuracy(CLASSES, SIGNAL),
    )
