"""What guides/export.md says: what goes into a file, and what goes wrong on the way."""

import io

import pytest
import torch
from torch import nn

from examples.cifar_optimizers.model import ResNet18
from snippets.export_from_pixels import FromPixels

pytestmark = pytest.mark.filterwarnings("ignore:Function _TORCH_OPS_REGISTRY:DeprecationWarning")

MEAN, STD = (0.5, 0.25, 0.0), (0.25, 0.5, 1.0)


@pytest.fixture
def ct():
    """Return coremltools, which has no wheels for Linux on ARM."""
    return pytest.importorskip("coremltools")


def program(model, *inputs, decompositions=None, **options):
    """Return a network as what coremltools converts."""
    return torch.export.export(model, inputs, **options).run_decompositions(decompositions)


def operations(package):
    """Return the names of what a Core ML package computes, in order, without its constants."""
    (block,) = package.get_spec().mlProgram.functions["main"].block_specializations.values()
    return [operation.type for operation in block.operations if operation.type != "const"]


def test_pixels_are_prepared_as_in_training():
    seen = []

    class Network(nn.Module):
        def forward(self, x):
            seen.append(x)
            return x.mean(dim=(2, 3))

    pixels = torch.tensor([255.0, 127.5, 0.0])[None, :, None, None].expand(2, 3, 4, 4)
    probabilities = FromPixels(Network(), MEAN, STD)(pixels)
    assert seen[0].shape == (2, 3, 4, 4)
    assert seen[0][1, :, 2, 2].tolist() == [2.0, 0.5, 0.0]  # (1 - 0.5) / 0.25, (0.5 - 0.25) / 0.5, 0
    torch.testing.assert_close(probabilities, torch.tensor([[2.0, 0.5, 0.0]] * 2).softmax(1))


@pytest.mark.slow
def test_an_app_gives_a_picture_and_gets_a_name(ct):
    example = torch.rand(1, 3, 8, 16) * 255
    model = FromPixels(nn.Sequential(nn.Flatten(), nn.Linear(384, 2)), MEAN, STD).eval()
    takes, names = ct.ImageType("picture", example.shape), ct.ClassifierConfig(["cat", "dog"])
    package = ct.convert(program(model, example), inputs=[takes], classifier_config=names)
    description = package.get_spec().description
    picture = description.input[0].type.imageType
    assert (picture.width, picture.height) == (16, 8)
    assert picture.ColorSpace.Name(picture.colorSpace) == "RGB"
    assert description.predictedFeatureName == "classLabel"
    assert {"softmax", "classify"} <= {*operations(package)}


def test_a_program_of_the_handbook_is_exported_again():
    network = ResNet18(3, 2).eval()
    free = {"images": {0: torch.export.Dim("count", min=1)}}
    file = io.BytesIO()
    torch.export.save(torch.export.export(network, (torch.rand(3, 3, 16, 16),), dynamic_shapes=free), file)
    loaded = torch.export.load(io.BytesIO(file.getvalue())).module()
    with pytest.raises(NotImplementedError):
        loaded.eval()
    pixels = torch.rand(1, 3, 16, 16) * 255
    exported = program(FromPixels(loaded.cpu(), MEAN, STD), pixels).module()
    torch.testing.assert_close(exported(pixels), FromPixels(network, MEAN, STD).eval()(pixels))


@pytest.mark.slow
def test_core_ml_computes_in_float16_unless_told(ct):
    """Numbers are converted at the beginning and at the end."""
    exported = program(nn.Linear(3, 2).eval(), torch.rand(1, 3))
    assert operations(ct.convert(exported)) == ["cast", "linear", "cast"]
    assert operations(ct.convert(exported, compute_precision=ct.precision.FLOAT32)) == ["linear"]


@pytest.mark.slow
def test_a_free_batch_of_core_ml_has_bounds(ct):
    free = ({0: torch.export.Dim("batch", min=1, max=64)},)
    package = ct.convert(program(nn.Linear(3, 2).eval(), torch.rand(5, 3), dynamic_shapes=free))
    (takes,) = package.get_spec().description.input
    assert takes.name == "input"  # the argument of `forward`
    bounds = [(size.lowerBound, size.upperBound) for size in takes.type.multiArrayType.shapeRange.sizeRanges]
    assert bounds == [(1, 64), (3, 3)]


@pytest.mark.slow
def test_core_ml_does_not_take_bf16(ct):
    with pytest.raises(KeyError, match=r"torch\.bfloat16"):
        ct.convert(program(nn.Linear(3, 2).bfloat16().eval(), torch.rand(1, 3).bfloat16()))
    with pytest.raises(RuntimeError, match="BFloat16"):
        program(nn.Conv2d(3, 2, 1).bfloat16().eval(), torch.rand(1, 3, 4, 4))


@pytest.mark.slow
def test_core_ml_does_not_take_batchnorm_in_training_mode(ct):
    with pytest.raises(NotImplementedError, match="Unsupported fx node _native_batch_norm_legit_functional"):
        ct.convert(program(nn.BatchNorm1d(3).train(), torch.rand(4, 3)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The tensor attributes:UserWarning")
def test_an_lstm_needs_all_decompositions(ct):
    """It is converted for the exported number of steps, here 3."""
    model, example = nn.LSTM(4, 5).eval(), torch.rand(3, 1, 4)
    with pytest.raises(NotImplementedError, match="Unsupported fx node lstm"):
        ct.convert(program(model, example, decompositions={}))
    assert operations(ct.convert(program(model, example))).count("tanh") == 2 * 3


def test_branches_on_values_cannot_be_exported():
    class Branches(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    class Chooses(nn.Module):
        def forward(self, x):
            return torch.where(x.sum() > 0, x, -x)

    with pytest.raises(Exception, match="Could not guard on data-dependent expression"):
        program(Branches(), torch.ones(3))
    exported = program(Chooses(), torch.ones(3)).module()
    assert exported(-torch.ones(3)).tolist() == [1.0, 1.0, 1.0]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Return ONNX Runtime's session of a network that was exported in training mode, with a batch of 1."""
    runtime = pytest.importorskip("onnxruntime")
    model = nn.Sequential(nn.Linear(1, 1000), nn.Dropout(0.5)).train()
    nn.init.zeros_(model[0].weight)
    nn.init.ones_(model[0].bias)
    path = tmp_path_factory.mktemp("onnx") / "net.onnx"
    with pytest.warns(UserWarning, match="Exporting a model while it is in training mode"):
        torch.onnx.export(model, (torch.rand(1, 1),), path, input_names=["x"], verbose=False)
    assert path.with_name("net.onnx.data").exists()  # the weights
    return runtime.InferenceSession(path)


@pytest.mark.slow
def test_onnx_keeps_dropout_on_in_training_mode(session):
    scores = session.run(None, {"x": torch.rand(1, 1).numpy()})[0]
    assert set(scores.flatten().tolist()) == {0.0, 2.0}


@pytest.mark.slow
def test_a_batch_of_onnx_is_fixed_unless_named(session):
    with pytest.raises(Exception, match="Got invalid dimensions for input"):
        session.run(None, {"x": torch.rand(2, 1).numpy()})
