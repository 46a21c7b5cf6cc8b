"""Pictures: kinds of pixels, orientation, cutting and resizing, and files that are refused."""

import shutil
import struct
import zlib

import numpy
import pytest
import torch
from PIL import Image

from examples.cifar_optimizers import array_sets, picture_sheet
from examples.cifar_optimizers.data_facts import count_repeated
from examples.cifar_optimizers.data_sources import load_data
from examples.cifar_optimizers.image_data import channel_statistics
from examples.cifar_optimizers.pictures import UnreadablePicture, read_picture
from snippets.errors import UsageError
from tests.examples.cifar_optimizers import data_forms
from tests.examples.cifar_optimizers.data_forms import picture_bytes, write_pictures

GREY16 = Image.fromarray(numpy.full((4, 4), 0x8001, numpy.uint16))
HALF = Image.new("RGBA", (4, 4), (255, 0, 0, 0))


def load(folder):
    return load_data(str(folder), 8, download=False, check=True)


def palette():
    image = Image.new("P", (4, 4), 1)
    image.putpalette([0, 0, 0, 20, 40, 60])
    return image


@pytest.mark.parametrize(
    ("image", "kind", "colour"),
    [
        (Image.new("RGB", (4, 4), (1, 2, 3)), "PNG", (1, 2, 3)),
        (Image.new("L", (4, 4), 77), "PNG", (77, 77, 77)),
        (Image.new("1", (4, 4), 1), "PNG", (255, 255, 255)),
        (HALF, "PNG", (255, 255, 255)),  # white behind what is transparent
        (Image.new("LA", (4, 4), (9, 255)), "PNG", (9, 9, 9)),
        (palette(), "GIF", (20, 40, 60)),
        (GREY16, "PNG", (128, 128, 128)),
        (GREY16, "TIFF", (128, 128, 128)),
        (Image.new("CMYK", (4, 4), (0, 0, 0, 0)), "JPEG", (255, 255, 255)),
        (Image.new("RGB", (4, 4), (1, 2, 3)), "BMP", (1, 2, 3)),
        (Image.new("RGB", (4, 4), (255, 255, 255)), "WEBP", (255, 255, 255)),
    ],
)
def test_kinds_of_pixels_become_red_green_blue(tmp_path, image, kind, colour):
    (tmp_path / "picture").write_bytes(picture_bytes(image, kind))
    read = read_picture(tmp_path / "picture", 4)
    assert (read.width, read.height) == (4, 4)
    assert read.pixels.flatten(1).tolist() == [[value] * 16 for value in colour]


def test_a_turned_photo_is_set_upright(tmp_path):
    image = Image.new("RGB", (8, 8))
    image.paste((255, 255, 255), (0, 0, 8, 4))  # white above
    exif = Image.Exif()
    exif[0x0112] = 6  # turn right by a quarter, so that white is on the right
    image.save(tmp_path / "photo.png", exif=exif)
    pixels = read_picture(tmp_path / "photo.png", 8).pixels[0]
    assert (pixels[:, 4:].min(), pixels[:, :4].max()) == (255, 0)


def test_the_middle_of_a_long_picture_is_kept(tmp_path):
    image = Image.new("RGB", (24, 8), (0, 0, 0))
    image.paste((200, 100, 50), (8, 0, 16, 8))
    image.save(tmp_path / "wide.png")
    pixels = read_picture(tmp_path / "wide.png", 8).pixels
    assert pixels.flatten(1).tolist() == [[200] * 64, [100] * 64, [50] * 64]
    assert torch.equal(read_picture(tmp_path / "wide.png", 4).pixels[:, 1:3, 1:3], pixels[:, 1:3, 1:3])


def bomb():
    """Return a PNG that announces 100,000 × 100,000 pixels in some bytes."""
    head = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    chunks = (struct.pack(">I", len(c)) + n + c + struct.pack(">I", zlib.crc32(n + c)) for n, c in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


WHOLE = picture_bytes(Image.effect_noise((64, 64), 90))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is no picture in one of the formats PNG, JPEG"),
        (b"not a picture", "it is no picture in one of the formats"),
        (b"%!PS-Adobe-3.0 EPSF-3.0", "it is no picture in one of the formats"),
        (WHOLE[: len(WHOLE) // 2], "damaged: "),
        (bomb(), "pixels"),
        (
            picture_bytes(Image.new("1", (9000, 9000))),
            "it has 9000 × 9000 pixels, and 80,000,000 are the most",
        ),
        (picture_bytes(Image.new("F", (4, 4)), "TIFF"), "numbers of 32 bits; write it with 8 bits"),
    ],
)
def test_unreadable_files_are_left_out_and_named(tmp_path, content, message):
    write_pictures(tmp_path, {"cat": 5, "dog": 5})
    wrong = tmp_path / "dog" / "3.png"
    wrong.write_bytes(content)
    with pytest.raises(UnreadablePicture) as caught:
        read_picture(wrong, 8)
    assert str(caught.value).startswith(f"cannot read {wrong}: ") and message in str(caught.value)
    assert "\n" not in str(caught.value) and ".;" not in str(caught.value)
    data = load(tmp_path)
    assert data.train_labels.tolist() == [0] * 4 + [1] * 3
    assert data.train_images[4:, 0, 0, 0].tolist() == [0, 10, 20]  # dogs 0, 1 and 2, as they are written
    assert data.notes[-1].startswith("1 unreadable picture (dog/3.png: ") and message in data.notes[-1]


def test_many_unreadable_files_are_counted(tmp_path):
    write_pictures(tmp_path, {"cat": 20, "dog": 5})
    for number in range(4, 16):
        (tmp_path / "cat" / f"{number}.png").write_bytes(b"")
    (note,) = [note for note in load(tmp_path).notes if "unreadable" in note]
    assert note.startswith("12 unreadable pictures (cat/") and note.count(".png") == 10
    assert note.endswith("; and 2 more), left out") and note.count("it is no picture") == 1


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ("dog", "", "no picture of dog can be learned: 5 unreadable"),
        ("", "cat", "no picture that is held out"),
    ],
)
def test_a_part_without_readable_pictures_is_refused(tmp_path, train, test, message):
    write_pictures(tmp_path / "train", {"cat": 5, "dog": 5})
    write_pictures(tmp_path / "test", {"cat": 2})
    for file in [
        *(tmp_path / "train" / (train or "none")).glob("*"),
        *(tmp_path / "test" / (test or "none")).glob("*"),
    ]:
        file.write_bytes(b"")
    with pytest.raises(UsageError) as caught:
        load(tmp_path)
    assert str(caught.value).startswith(message) and "replace them" in str(caught.value)


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ({"cat": 5}, {}, "pictures of one class (cat)"),
        ({"cat": 4, "dog": 4}, {}, "has no picture that is held out"),
        ({"cat": 2, "dog": 2}, {"owl": 1}, "test/owl is a class that"),
        ({"pets/cat": 5, "pets/dog": 5}, {}, "with the folders cat, dog; name "),
        ({"seg_train/cat": 5, "seg_test/cat": 5}, {}, "are parts by their names, not classes; rename them"),
        ({"train": 5, "test": 5}, {}, "are parts by their names, not classes; put the pictures of each"),
    ],
)
def test_classes_that_cannot_be_learned(tmp_path, train, test, message):
    write_pictures(tmp_path / "train" if test else tmp_path, train)
    write_pictures(tmp_path / "test", test)
    with pytest.raises(UsageError) as caught:
        load(tmp_path)
    assert message in str(caught.value)


def test_repeated_pictures_are_counted(tmp_path):
    write_pictures(tmp_path / "train", {"cat": 3, "dog": 2})  # equal colours in both classes
    write_pictures(tmp_path / "test", {"cat": 5, "dog": 1})
    data = load(tmp_path)
    assert count_repeated(data) == 4  # three cats, one dog


def test_statistics_are_those_of_the_pixels():
    images = torch.randint(
        0, 256, (7, 3, 5, 5), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    images[:, 2] = 51
    mean, std = channel_statistics(images)
    exact = images.double().transpose(0, 1).flatten(1) / 255
    assert torch.allclose(mean.flatten().double(), exact.mean(1))
    assert torch.allclose(std.flatten().double()[:2], exact.std(1, correction=0)[:2])
    assert std[2].item() == pytest.approx(1 / 255)  # not 0


def test_a_class_may_be_called_train(tmp_path):
    write_pictures(tmp_path, {"train": 5, "bus": 5})
    assert load(tmp_path).class_names == ("bus", "train")


def test_parts_without_classes_are_left_out(tmp_path):
    write_pictures(tmp_path / "train", {"cat": 5, "dog": 5})
    write_pictures(tmp_path, {"test": 3})
    write_pictures(tmp_path / "val", {"cat": 2})
    data = load(tmp_path)
    assert (len(data.train_labels), data.test_labels.tolist()) == (10, [0, 0])
    assert data.notes[0] == "test/ has no folders of classes and is not used"
    shutil.rmtree(tmp_path / "val")
    assert (len(load(tmp_path).train_labels), load(tmp_path).test_labels.tolist()) == (8, [0, 1])


def test_folders_beside_the_parts_are_named(tmp_path):
    for part in ("train", "test"):
        write_pictures(tmp_path / part, {"0": 5, "1": 5})
    assert load(tmp_path).notes == ()
    write_pictures(tmp_path, {"cat": 5, "dog": 5})
    (tmp_path / ".cache").mkdir()
    data = load(tmp_path)
    assert data.class_names == ("0", "1")
    assert data.notes == ("not used beside train/: cat/, dog/",)
    write_pictures(tmp_path, dict.fromkeys(("eel", "fox", "gnu", "hen"), 1))
    (note,) = load(tmp_path).notes
    assert note.endswith(": cat/, dog/, eel/, fox/, gnu/, …")


def test_moved_as_the_line_says_they_are_read(tmp_path):
    """The cure for Kaggle's folders."""
    data_forms.kaggle_labels(tmp_path)
    for file in sorted((tmp_path / "train").glob("*.png")):
        place = file.parent / ("dingo", "beagle")[file.stem < "2"]
        place.mkdir(exist_ok=True)
        file.rename(place / file.name)
    with pytest.raises(UsageError, match="five per class at least"):  # two beagles, four dingos
        load(tmp_path)
    write_pictures(tmp_path / "train" / "dingo", {"more": 1})
    assert (load(tmp_path).class_names, load(tmp_path).test_labels.tolist()) == (("beagle", "dingo"), [1])


def test_names_without_a_font_become_numbers(monkeypatch):
    monkeypatch.setattr(picture_sheet.font_manager, "findSystemFonts", list)
    picture_sheet.find_fonts.cache_clear()
    assert picture_sheet.drawable(["dog", "猫", "Straße"]) == (
        ["dog", "class 1", "Straße"],
        " (class 1 is 猫: no font has its characters)",
    )
    assert picture_sheet.find_fonts("猫") == (["DejaVu Sans"], {"猫"})
    assert picture_sheet.drawable(["dog", "cat"]) == (["dog", "cat"], "")
    picture_sheet.find_fonts.cache_clear()


def test_labels_are_read_before_pictures(tmp_path, monkeypatch):
    file = data_forms.write_npz(tmp_path / "one.npz", (5, 28, 28), numpy.full((5, 1), 3, numpy.uint8))
    read = []
    original = array_sets.read_npz
    monkeypatch.setattr(
        array_sets, "read_npz", lambda path, names: read.append(names) or original(path, names)
    )
    with pytest.raises(UsageError, match=r"train_labels has one class only \(3\); two are the least"):
        load(file)
    assert read == [("train_labels",)]
