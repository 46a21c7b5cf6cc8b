"""The figures in docs/data/results/ are what PyTorch and the examples give."""

import json
from datetime import date
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models import resnet18

from examples.cifar_optimizers.generated_images import best_accuracy
from examples.cifar_optimizers.image_data import noise_floor
from examples.cifar_optimizers.model import ResNet18, parameter_count
from examples.cifar_optimizers.optimizers import OPTIMIZERS
from tools.measuring.measure import measure_run
from tools.read_yaml import read_yaml

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "data" / "results"
NETWORKS = {"cifar": lambda: ResNet18(10, 64), "imagenet": lambda: resnet18(num_classes=10)}
BATCH = 128


def read(name):
    return read_yaml(RESULTS / f"{name}.yaml")


@pytest.fixture(params=read("resnet18")["networks"], ids=lambda network: network["id"])
def network(request):
    """Return a network's entry, and the network itself on the meta device, where nothing is computed."""
    with torch.device("meta"):
        return request.param, NETWORKS[request.param["id"]]()


def meta_images(count):
    return torch.empty(count, 3, 32, 32, device="meta")


def test_parameters(network):
    entry, model = network
    assert parameter_count(model) == entry["parameters"]


def test_operations_for_one_image(network):
    entry, model = network
    with FlopCounterMode(display=False) as forward:
        model.eval()(meta_images(1))
    with FlopCounterMode(display=False) as training:
        model.train()(meta_images(2)).sum().backward()
    assert forward.get_total_flops() == entry["forward_flop"]
    assert training.get_total_flops() == 2 * entry["training_flop"]


def test_what_is_kept_for_the_backward_pass(network):
    entry, model = network
    parameters = {weight.untyped_storage()._cdata for weight in model.parameters()}
    kept = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in parameters:
            kept[storage._cdata] = (storage.nbytes(), tensor)  # holding the tensor keeps its address unique
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        labels = torch.empty(BATCH, dtype=torch.int64, device="meta")
        F.cross_entropy(model.train()(meta_images(BATCH)), labels)
    assert sum(size for size, _ in kept.values()) == entry["kept_bytes"]


def test_chips_have_a_source_and_a_plausible_peak():
    data = read("resnet18")
    for chip in data["chips"]:
        assert data["sources"][chip["source"]]["url"].startswith("https://")
        clock = chip["fp32_tflops"] * 1e12 / (chip["gpu_cores"] * 256)  # 128 multiply-adds per core and cycle
        assert 1.2e9 < clock < 1.7e9, chip["name"]


def test_best_accuracy():
    rows = read("known_optimum")["best_accuracy"]
    compared = 0
    for row in rows:
        for signal, accuracy in row["signal"].items():
            assert best_accuracy(row["classes"], signal) == pytest.approx(accuracy, abs=5e-5)
            compared += 1
    assert compared >= 8


def test_noise_floors():
    rows = read("known_optimum")["noise_floor"]
    assert rows
    for row in rows:
        accuracy, cross_entropy = noise_floor(row["share"], row["classes"], row["smoothing"])
        assert accuracy == pytest.approx(row["accuracy"])
        assert cross_entropy == pytest.approx(row["cross_entropy"], abs=5e-5)


def test_measured_accuracies_say_how_they_were_made():
    data = read("cifar_digits")
    assert {"machine", "versions", "date", "command"} <= data.keys()
    assert isinstance(data["date"], date)
    assert {run["options"][-1] for run in data["runs"]} == set(OPTIMIZERS)
    for run in data["runs"]:
        assert len(run["test_accuracy"]) == len(data["seeds"]) >= 3
        # Of 355 held-out images, so every accuracy is a multiple of 1/355.
        for accuracy in run["test_accuracy"]:
            assert accuracy * 355 == pytest.approx(round(accuracy * 355), abs=0.01)


def test_one_measured_run_again(default_training, tmp_path):
    """The first run of the table has the options of the default run; on a Mac, that one is on the GPU."""
    data = read("cifar_digits")
    run, seed = data["runs"][0], data["seeds"][0]
    assert (run["options"], seed) == (["--optimizer", "sgd"], 0)
    again = json.loads((default_training("cifar_optimizers")[1] / "summary.json").read_text(encoding="utf-8"))
    assert (again["options"]["optimizer"], again["options"]["seed"]) == ("sgd", 0)
    if torch.accelerator.is_available():
        again = {"options": run["options"]}
        measure_run(again, data | {"seeds": [seed], "runs": [again]}, tmp_path, "cpu")
        again["test_accuracy"] = again["test_accuracy"][0]
    # Another processor rounds differently.
    assert again["test_accuracy"] == pytest.approx(run["test_accuracy"][0], abs=0.015)
