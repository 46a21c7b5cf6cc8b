"""The DNA pages name what the source guide names; options and quoted errors are those of the programs."""

import re
from pathlib import Path

import pytest
import pytorch_lightning as pl
import yaml

from examples.genomic_caduceus.options import PRETRAIN, TRAIN
from snippets.errors import UsageError
from tools.checks.sections import all_sections

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENT = "experiment=hg38/mps_optimized_genomic_benchmark"
OF_THE_GUIDE = [
    "mps_optimized_genomic_benchmark.sh",
    EXPERIMENT,
    "verify_mps_optimizations.py",
    "mps_optimization_report.json",
    "run_genomic_benchmark_no_wandb.sh",
    "configs/dataset/mps_optimized_genomic_benchmark.yaml",
    "configs/experiment/hg38/mps_optimized_genomic_benchmark.yaml",
    "src/dataloaders/mps_optimized_genomics.py",
    "caduceus/modeling_caduceus.py",
    'BATCH_SIZE="64"',
    "accumulate_grad_batches=2",
    "precision: bf16`",
    "precision: bf16-mixed",
    "amp_backend: native",
    "accelerator: mps",
    "devices: 1",
    "gradient_clip_val: 1.0",
    "deterministic: false",
    "benchmark: true",
    "+dataset.num_workers=0 +dataset.pin_memory=false +dataset.drop_last=true",
    "PYTORCH_ENABLE_MPS_FALLBACK=1",
    "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0",
    "conda activate caduceus",
    "torch.mps.empty_cache()",
    "psutil.virtual_memory()",
]
OF_CADUCEUS = {  # keys of the published program that have another name here, or none
    "dataset.train_val_split_seed",
    "train.pretrained_model_path",
    "model.config_path",
    "loader.num_workers",
    "loader.pin_memory",
    "dataset.conjoin_test",
    "decoder.conjoin_test",
    "train.gpu_mem",
}


PAGES = ("index", "how-it-works", "results", "source-guide")


@pytest.fixture(params=["en", "zh"])
def pages(request):
    folder = ROOT / f"docs/{request.param}/examples/genomic-caduceus"
    return {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}


@pytest.fixture
def page(pages):
    return "\n".join(pages.values())


def test_the_recorded_comparison_found_a_difference():
    """The page says that the last line but two has the result, and that 1 is outside of its range."""
    lines = (ROOT / "docs/data/recorded/genomic_verify.txt").read_text(encoding="utf-8").splitlines()
    low, high = re.match(r"ratio +[\d.]+ \(([\d.]+) to ([\d.]+)\)", lines[-3]).groups()
    assert not float(low) <= 1 <= float(high)


def test_everything_that_the_guide_names_is_on_its_page(pages):
    assert [name for name in OF_THE_GUIDE if name not in pages["source-guide"]] == []


def test_every_key_on_the_page_is_known(page):
    sections, _ = all_sections(ROOT)
    shown = [sections[key].text for key in re.findall(r'"(snippets/shell/genomic\w*\.sh:[\w-]+)"', page)]
    words = " ".join([*re.findall(r"`([^`\n]+)`", page), *shown])
    keys = set(
        re.findall(r"(?<![\w.-])\+?((?:dataset|model|train|trainer|loader|decoder)\.[a-z_.]+)=", words)
    )
    keys |= set(re.findall(r"(?<=[ `\n])(data|batch_size|seed|workers|resume|out|precision)=\S", words))
    known = TRAIN.known() | PRETRAIN.known()
    assert len(keys - OF_CADUCEUS) > 12
    assert keys - known - OF_CADUCEUS == set()
    assert not OF_CADUCEUS & known


def test_the_file_to_copy_is_an_experiment():
    """Its keys are known, and a step learns from 128 sequences in two passes, as its comments say."""
    sections, _ = all_sections(ROOT)
    text = sections["snippets/dna_experiment.yml:experiment"].text
    assert text.startswith("# @package _global_\n")
    words = [f"{path}={value}" for path, value in leaves(yaml.safe_load(text)) if path != "defaults"]
    assert {word.partition("=")[0] for word in words} <= TRAIN.known()
    assert values(EXPERIMENT, *words) == (64, 2, "fp32")


def leaves(tree, path=""):
    for key, value in tree.items():
        yield from leaves(value, f"{path}{key}.") if isinstance(value, dict) else [(f"{path}{key}", value)]


def values(*words):
    """Return the batch, the passes per step and the word for the precision that the words lead to."""
    found = TRAIN.values([*words])
    return tuple(
        found[f"{key}"]
        for key in ("dataset.batch_size", "trainer.accumulate_grad_batches", "trainer.precision")
    )


def test_passes_follow_from_batch_and_global_batch_size():
    assert values(EXPERIMENT) == (64, 2, "bf16-mixed")
    assert values("batch_size=64", "train.global_batch_size=128")[:2] == (64, 2)
    assert values("batch_size=32", "train.global_batch_size=64")[:2] == (32, 2)
    assert values("experiment=hg38/genomic_benchmark")[:2] == (128, 1)
    assert values("experiment=hg38/genomic_benchmark", "dataset.batch_size=64")[:2] == (64, 1)


@pytest.mark.parametrize("word", ["bf16", "bf16-mixed"])
def test_both_words_for_bf16_mean_the_same(word):
    assert TRAIN.read([f"trainer.precision={word}"]) == {"precision": "bf16"}
    assert pl.Trainer(accelerator="cpu", precision=word, logger=False).precision == "bf16-mixed"


def test_lightning_knows_no_amp_backend():
    with pytest.raises(TypeError, match="amp_backend"):
        pl.Trainer(amp_backend="native")


@pytest.mark.parametrize(
    "words",
    [["experiment=hg38/genomic_benchmark", "dataset.num_workers=0"], ["+dataset.num_workers=0"]],
)
def test_errors_about_keys_read_as_on_the_page(page, words):
    with pytest.raises(UsageError) as error:
        TRAIN.read(words)
    said = str(error.value).partition(" Either")[0]  # behind it: how to write the word instead
    assert f"`{said}`" in page


def test_with_a_plus_the_words_of_the_guide_work():
    words = ["+dataset.num_workers=0", "+dataset.pin_memory=false", "+dataset.drop_last=true"]
    read = TRAIN.read(["experiment=hg38/genomic_benchmark", *words])
    assert (read["workers"], read["pin_memory"], read["drop_last"]) == (0, False, True)
