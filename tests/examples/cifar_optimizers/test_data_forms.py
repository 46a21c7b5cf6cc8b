"""Every form of data in docs/data/data_forms/cifar_optimizers.yaml: read as it was made, or refused."""

from pathlib import Path

import pytest

from examples.cifar_optimizers.data_sources import load_data
from examples.cifar_optimizers.options import resolve
from snippets.errors import UsageError
from tests.examples.cifar_optimizers import data_forms
from tools.read_yaml import read_yaml

FORMS = read_yaml(Path(__file__).resolve().parents[3] / "docs/data/data_forms/cifar_optimizers.yaml")


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form["made_by"])
def test_each_form_is_read_or_refused(form, tmp_path):
    made = getattr(data_forms, form["made_by"])(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    if form["result"] == "refused":
        with pytest.raises(UsageError) as caught:
            read(made.path)
        assert form["message"] in str(caught.value) and str(tmp_path) in str(caught.value)
    else:
        data = read(made.path)
        assert (len(data.train_labels), len(data.test_labels)) == (made.train, made.test)
        assert (data.class_names, tuple(data.test_labels.tolist())) == (made.names, made.held_out)
        assert data.train_images.shape == (made.train, 3, *data.test_images.shape[2:])
    assert sorted(tmp_path.rglob("*")) == before  # nothing was unpacked


def read(path):
    options = resolve({"data": str(path)})
    return load_data(options.data, options.image_size, download=False, check=False)


@pytest.mark.parametrize("make", [data_forms.medmnist_grey, data_forms.keras_mnist, data_forms.idx_files])
def test_arrays_keep_every_pixel(make, tmp_path):
    data = read(make(tmp_path).path)
    assert data.train_images[:, :, 3, 5].tolist() == [[number] * 3 for number in range(5)]
    assert data.train_images.sum() == 3 * sum(range(5))  # all others are 0
    assert data.mean.flatten().tolist() == pytest.approx([2 / 784 / 255] * 3)


def test_larger_arrays_are_resized(tmp_path):
    data = read(data_forms.medmnist_colour(tmp_path).path)
    assert data.train_images.shape == (5, 3, 28, 28)
    assert data.notes == ("val_images is not used",)
    assert list(data.sizes.items()) == [((64, 64), 10)]


def test_notes_name_what_is_not_used(tmp_path):
    assert read(data_forms.train_and_test(tmp_path).path).notes == ("val/ is not used",)
    data = read(data_forms.folder_per_class(tmp_path / "second").path)
    assert data.notes == (
        "every fifth picture of each class is held out",
        "1 other file left out (notes.txt)",
    )
    assert list(data.sizes.items()) == [((12, 9), 21)]
