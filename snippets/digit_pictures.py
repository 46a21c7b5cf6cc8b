"""Write scikit-learn's 1,797 handwritten digits as PNG files, in a folder per class."""

# --8<-- [start:digit_pictures]
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_digits


def write_digits(folder: Path) -> None:
    """Write pictures of 8 × 8 pixels to folder/train/CLASS/ and, every fifth, to folder/test/CLASS/."""
    digits = load_digits()
    for number, (image, label) in enumerate(zip(digits.images, digits.target, strict=True)):
        place = folder / ("test" if number % 5 == 4 else "train") / str(label)
        place.mkdir(parents=True, exist_ok=True)
        pixels = (image * (255 / 16)).round().astype("uint8")  # the values are 0 to 16
        Image.fromarray(pixels).save(place / f"{number:04}.png")


# --8<-- [end:digit_pictures]
if __name__ == "__main__":
    write_digits(Path("digit_pictures"))
