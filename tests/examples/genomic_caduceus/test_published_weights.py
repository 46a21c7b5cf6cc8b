"""Published Caduceus weights give the outputs that the published module gave, and bad files one line."""

import json
import os
import re
import sys
import zlib
from collections import OrderedDict
from pathlib import Path

import numpy
import pytest
import torch
from safetensors.torch import save_file

from examples.genomic_caduceus.mamba import Backbone
from examples.genomic_caduceus.model import Classifier, LanguageModel
from examples.genomic_caduceus.published_weights import is_published, read_published
from snippets.errors import UsageError
from tests.examples.genomic_caduceus.conftest import train_only
from tests.examples.program_runs import assert_refused

RECORDED = json.loads(Path(__file__).with_name("published_caduceus.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in RECORDED["cases"]}
SHELL = Path(__file__).resolve().parents[3] / "snippets/shell/genomic_mac.sh"
TOKENS = torch.tensor([RECORDED["tokens"]])


def values(name, shape):
    """Return the weights of this name, by the rule of the recording."""
    name = name.replace(".submodule", "")
    low, high = next(limits for end, *limits in RECORDED["rules"] if name.endswith(end))
    drawn = numpy.random.RandomState(zlib.crc32(name.encode())).uniform(low, high, shape)
    return torch.from_numpy(drawn.astype(numpy.float32))


def stored(case):
    """Return the tensors of a case as Hugging Face stored them."""
    partners = torch.tensor(list(case["config"]["complement_map"].values()))
    return {
        name: partners.clone() if name.endswith("complement_map") else values(name, shape)
        for name, shape in case["stored"].items()
    }


def write(folder, tensors, config):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return folder


@pytest.fixture
def written(tmp_path):
    """Return a function that writes a case, its configuration and tensors changed, and gives the folder."""

    def call(name="Ph", config=None, tensors=None):
        case = CASES[name]
        return write(tmp_path / "published", stored(case) | (tensors or {}), case["config"] | (config or {}))

    return call


def backbone(published):
    sizes = {option: value for option, value in published.options.items() if option != "rcps"}
    network = Backbone(*sizes.values())
    network.load_state_dict(published.weights)
    return network


def assert_equal_to_record(folder, case):
    """Compare hidden states, scores of tokens and scores of classes with those of the published module."""
    published = read_published(folder)
    both = published.options["rcps"]
    language = LanguageModel(backbone(published), both_strands=both)
    classifier = Classifier(language.backbone, 3, both_strands=both)
    with torch.no_grad():
        classifier.head.weight.copy_(values("score.weight", (3, case["config"]["d_model"])))
        hidden, scores, classes = language.backbone(TOKENS), language(TOKENS), classifier(TOKENS)
        if both:  # theirs holds both strands, the other reversed, and adds the scores of both
            own, other = language.strands(TOKENS)
            hidden, scores = torch.cat([own, other.flip(-2, -1)], -1), 2 * scores
    for found, expected in ((hidden, "hidden"), (scores, "logits"), (classes, "scores")):
        torch.testing.assert_close(found[0], torch.tensor(case[expected]), rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_outputs_equal_those_of_the_published_module(name, written):
    assert_equal_to_record(written(name), CASES[name])


def test_exchanged_strands_are_another_function():
    """The records of both settings have the same weights; without the exchange, one of them would fail."""
    plain, fused = (torch.tensor(CASES[name]["scores"]) for name in ("PS", "PS, fused_add_norm"))
    assert (plain - fused).norm() / plain.norm() > 0.1


def test_edited_fused_add_norm_changes_nothing(written):
    name = "PS, fused_add_norm"
    assert_equal_to_record(written(name, {"fused_add_norm": False}), CASES[name])


def test_bin_file_with_tied_names_is_read(written):
    folder, case = written("Ph"), CASES["Ph"]
    tensors = stored(case)
    for name in list(tensors):
        if "mamba_fwd.in_proj" in name or "mamba_fwd.out_proj" in name:
            tensors[name.replace("mamba_fwd", "mamba_rev")] = tensors[name]
    tensors["lm_head.weight"] = tensors["caduceus.backbone.embeddings.word_embeddings.weight"]
    (folder / "model.safetensors").unlink()
    torch.save(OrderedDict(tensors), folder / "pytorch_model.bin")
    assert_equal_to_record(folder, case)
    assert_equal_to_record(folder / "pytorch_model.bin", case)


def test_half_precision_becomes_float32(written):
    name = "caduceus.backbone.norm_f.weight"
    folder = written(tensors={name: values(name, (20,)).bfloat16()})
    assert {value.dtype for value in read_published(folder).weights.values()} == {torch.float32}


SIZES = ("model.config.d_model", "model.config.d_state")  # set in the tiny trainings of the tests


@train_only
def test_train_takes_sizes_and_strands_from_it(task_of, written):
    for name, both in (("PS, fused_add_norm", True), ("Ph", False)):
        folder = written(name)
        task = task_of(**dict.fromkeys(SIZES), **{"train.pretrained": folder})
        options = task.options
        assert (options.width, options.layers, options.state, options.rcps) == (20, 2, 4, both)
        assert task.facts["pretrained"] == str(folder / "model.safetensors")
        embedding = task.state.model.backbone.embedding.weight
        torch.testing.assert_close(embedding, read_published(folder).weights["embedding.weight"])


@train_only
@pytest.mark.program
@pytest.mark.usefixtures("without_curves")
def test_shown_command_trains_with_a_folder(run_train, tmp_path, written):
    (line,) = re.findall(r"train\.py (.*=caduceus-ps .*)", SHELL.read_text(encoding="utf-8"))
    written("PS, fused_add_norm").rename(tmp_path / "caduceus-ps")
    words = line.replace("human_nontata_promoters", "motif").split()
    run = run_train(*words, "device=cpu", "dataset.sequences=48", "batch_size=6", max_steps=2)
    assert "begins with caduceus-ps/model.safetensors" in (run.folder / "train.log").read_text()


@train_only
@pytest.mark.program
@pytest.mark.usefixtures("without_curves")
def test_it_resumes_and_other_sizes_are_one_line(run_train, stop, tiny, written, undisturbed):
    settings = dict.fromkeys(SIZES) | {"train.pretrained": written()}
    whole = undisturbed(tiny(**settings))
    stop(10, **settings)
    run_train(resume="run").assert_same_as(whole)
    folder = settings["train.pretrained"]
    needed = "write model.config.d_model=20 model.config.d_state=4"
    message = (
        f"model.config.d_model=8 model.config.d_state=2: the network of {folder} has another size; {needed}"
    )
    assert_refused(run_train(*tiny(**{"train.pretrained": folder})), message)


# ---- What is refused ----

NORM = "caduceus.backbone.norm_f.weight"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "hyenadna"}, "its model_type is 'hyenadna'"),
        ({"rms_norm": False}, "rms_norm is False; only networks with True"),
        ({"norm_epsilon": 1e-6}, "norm_epsilon is 1e-06; only networks with 1e-05"),
        ({"bidirectional": False}, "bidirectional is False"),
        ({"bidirectional_strategy": "ew_multiply"}, "bidirectional_strategy is 'ew_multiply'"),
        ({"bidirectional_weight_tie": False}, "bidirectional_weight_tie is False"),
        ({"complement_map": {"7": 8}}, "complement_map is of other tokens"),
        ({"d_model": "20"}, "d_model is '20', not a number from 1 to 8192"),
        ({"n_layer": 10**12}, "n_layer is 1000000000000, not a number"),
        ({"d_model": 8192}, "is \\(16, 20\\), but \\(16, 8192\\) by config.json"),
        ({"n_layer": 256}, "incomplete: nothing in it becomes layers.10"),
        ({"n_layer": 1}, "which Caduceus of config.json does not have"),
        ({"ssm_cfg": {"d_state": 8}}, "but \\(40, 8\\) by config.json"),
        ({"rcps": True}, "does not fit rcps=True in config.json"),
    ],
)
def test_other_architectures_are_one_line(written, config, message):
    with pytest.raises(UsageError, match=message):
        read_published(written(config=config))


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"backbone.layers.0.mixer.gate": torch.ones(2)}, "holds backbone.layers.0.mixer.gate, which"),
        ({NORM: torch.ones(3)}, "is \\(3,\\), but \\(20,\\) by config.json"),
        ({NORM: torch.full((20,), torch.nan)}, "norm.weight holds NaN"),
        (
            {"caduceus.backbone.layers.0.mixer.mamba_rev.in_proj.weight": torch.ones(80, 20)},
            "differs from that of the other direction",
        ),
    ],
)
def test_other_weights_are_one_line(written, tensors, message):
    with pytest.raises(UsageError, match=message):
        read_published(written(tensors=tensors))


def test_odd_layers_of_the_fused_kernel_are_refused(written):
    fused = CASES["PS, fused_add_norm"]
    kept = {name: value for name, value in stored(fused).items() if ".layers.1." not in name}
    folder = write(written().parent / "odd", kept, fused["config"] | {"n_layer": 1})
    with pytest.raises(UsageError, match="fused PS weights of 1 layer"):
        read_published(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot read .*model.safetensors: "),
        (b"version https://git-lfs.github.com/spec/v1\n", "pointer of Git LFS .* git lfs pull"),
        ((1 << 62).to_bytes(8, "little") + b"{}", "cannot read .*model.safetensors: "),
        (b"PK\x03\x04" + bytes(99), "cannot read .*model.safetensors: "),
    ],
)
def test_damaged_weights_are_one_line(written, content, message):
    folder = written()
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_published(folder)


def test_cut_and_sparse_files_are_one_line(written):
    weights = written() / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-9])
    with pytest.raises(UsageError, match="cannot read"):
        read_published(weights)
    os.truncate(weights, 1 << 31)
    with pytest.raises(UsageError, match="2,147,483,648 bytes, more than the 1,073,741,824"):
        read_published(weights)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "has no config.json"),
        (b"", "is not JSON"),
        (b"[]", "its model_type is None"),
        (b"[" * 99_999, "is not JSON"),
        ('{"model_type": "caduceus"}'.encode("utf-16"), "not text in UTF-8"),
        (b" " * (1 << 21), "larger than 1,048,576 bytes"),
    ],
)
def test_other_configurations_are_one_line(written, content, message):
    path = written() / "config.json"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_published(path.parent)


def test_what_is_missing_is_one_line(written):
    folder = written()
    with pytest.raises(UsageError, match=r"there is no file .*none.safetensors"):
        read_published(folder / "none.safetensors")
    (folder / "model.safetensors").unlink()
    assert is_published(folder)
    with pytest.raises(UsageError, match=r"has neither model.safetensors nor pytorch_model.bin; download"):
        read_published(folder)


def test_configuration_with_a_byte_order_mark_is_read(written):
    path = written() / "config.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_published(path.parent).options["width"] == 20


def test_a_folder_or_pipe_as_weights_is_refused(written):
    weights = written() / "model.safetensors"
    weights.unlink()
    os.mkfifo(weights)
    with pytest.raises(UsageError, match="named pipe"):
        read_published(weights)
    weights.unlink()
    weights.mkdir()
    with pytest.raises(UsageError, match="a folder, not a file"):
        read_published(weights.parent)


def test_missing_package_is_one_line(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(UsageError, match="pip install safetensors"):
        read_published(written())


def test_pickle_in_a_bin_file_is_not_executed(written):
    folder = written()
    torch.save({"weights": Path("x")}, folder / "pytorch_model.bin")
    with pytest.raises(UsageError, match="holds more than weights"):
        read_published(folder / "pytorch_model.bin")
