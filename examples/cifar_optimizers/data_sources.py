"""`--data NAME|FOLDER`: which data set that is, and its images."""

from pathlib import Path

from examples.cifar_optimizers.cifar import CIFAR, download_cifar, find_cifar, load_cifar
from examples.cifar_optimizers.digits import load_digits
from examples.cifar_optimizers.image_data import ImageData
from examples.cifar_optimizers.synthetic import make_synthetic
from snippets.framework.errors import UsageError
from snippets.framework.user_paths import expanded

NAMES = ("digits", "synthetic", *CIFAR)
DATA_ROOT = Path("data")  # where `--data cifar10` looks, and where `--download` puts it


def find_data(text: str) -> tuple[str, Path | None]:
    """Return the name of the data set and its folder, None for those that need none. Raises UsageError."""
    if text in CIFAR:
        return text, DATA_ROOT / CIFAR[text].folder
    if text in NAMES:
        return text, None
    folder = expanded(text)
    if not folder.is_dir():
        raise UsageError(f"--data {text}: neither one of {', '.join(NAMES)} nor an existing folder")
    return find_cifar(folder)


def load_data(text: str, image_size: int, *, download: bool, check: bool) -> ImageData:
    """Return the images that `--data` means; `check` compares CIFAR's checksums. Raises UsageError."""
    name, folder = find_data(text)
    if download and text not in CIFAR:
        raise UsageError(f"--download fetches {' or '.join(CIFAR)}, not {text}; name one of them with --data")
    if name == "digits":
        return load_digits(image_size)
    if name == "synthetic":
        return make_synthetic(image_size)
    if download:
        print(f"downloading {name} to {DATA_ROOT}/ with torchvision (170 MB, once)", flush=True)
        download_cifar(name, DATA_ROOT)
    if not folder.is_dir():
        raise UsageError(f"--data {text}: there is no folder {folder}; add --download, or use --data FOLDER")
    return load_cifar(name, folder, check=check)
