"""What is worth knowing about the user's pictures before training: their sizes, and repeated ones."""

import hashlib

import torch

from examples.cifar_optimizers.image_data import ImageData


def count_repeated(data: ImageData) -> int:
    """Return how many held-out images equal a training image in every pixel, as the network gets them."""
    known = {digest(image) for image in data.train_images}
    return sum(digest(image) in known for image in data.test_images)


def digest(image: torch.Tensor) -> bytes:
    """Return 16 bytes that are equal for equal images, and practically never for others."""
    return hashlib.blake2b(image.numpy(force=True).tobytes(), digest_size=16).digest()


def sizes_in_words(data: ImageData) -> str:
    """Return the sizes of the pictures in the user's files, and what became of them."""
    found, target = sorted(data.sizes or (), key=lambda size: size[0] * size[1]), data.train_images.shape[-1]
    few = len(found) == 1
    words = " to ".join(
        f"{width}×{height}" for width, height in (found[:1] if few else (found[0], found[-1]))
    )
    if found == [(target, target)]:
        return f"{words} pixels in the files"
    cut = "" if all(width == height for width, height in found) else "cut to squares, "
    return f"{words} pixels in the files, {cut}resized to {target}×{target}"


def repeated_in_words(data: ImageData) -> str:
    """Return how many held-out pictures are in training, too."""
    count, all_of_them = count_repeated(data), len(data.test_labels)
    return f"{count:,} of {all_of_them:,} held-out pictures are in training, too"


def file_facts(data: ImageData) -> list[str]:
    """Return the lines about the user's files that training prints; none for data sets that are known."""
    if data.sizes is None:
        return []
    return [sizes_in_words(data), "; ".join((*data.notes, repeated_in_words(data)))]
