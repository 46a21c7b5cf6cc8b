"""A script for CUDA on a Mac: the list of changes, what leads to it, and the recipe that looks for them."""

import re
from pathlib import Path

import error_messages
import pytest

from tests.recipe_runs import RECIPES, run_recipe
from tools.checks.readings import parts

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "zh")
LIST = "guides/cuda-script.md#script"
IN_A_SCRIPT = (  # what stops a training script for NVIDIA on a Mac
    *(".cuda()", "torchrun", "deepspeed", "--deepspeed", "nccl", "torch.cuda.device_count()", "pin_memory"),
    *("bitsandbytes", "load_in_8bit", "load_in_4bit", "--fp16", "GradScaler", "num_workers", "accelerator"),
    *("--multi_gpu", "--gpu_ids", "torch_dtype", "device_map", "cudnn", "--compile"),
)
ERRORS = (  # which stop such a script first
    *("torch-not-compiled-with-cuda", "nccl-not-built-in", "redirects-not-supported"),
    *("bitsandbytes-without-gpu-support", "mps-accelerator-abstract"),
    *("gradscaler-cuda-not-available", "cuda-amp-deprecated"),
)
ANSWERS = ("script-on-mps", "one-script", "ddp", "ends-at-once", "cuda-not-compiled", "lora")
# In the list, but of little use in a search: they do no harm, are everywhere, or belong to one program.
NOT_LOOKED_FOR = (
    *("--device", "accelerator", "--gpus 8", "--gpu_ids 0", "CUDA_VISIBLE_DEVICES"),
    *("--negatives_cross_device", "--quantization_bit 4", 'device_map="auto"', 'strategy="ddp"'),
    *("torch.backends.cudnn.benchmark", "forward", "torch.zeros(n)", "torch.arange(n)", "torch.load(path)"),
)


def listed(language):
    """Return the code in the first column of the tables."""
    page = (ROOT / "docs" / language / "guides" / "cuda-script.md").read_text(encoding="utf-8")
    section = page.partition("{ #script }")[2].partition("\n## ")[0]
    return re.findall("`(.*?)`", " ".join(re.findall(r"^\| (.*?) \| ", section, re.M)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_list_of_changes_names_what_stops_a_script(language):
    left = " ".join(listed(language))
    assert [words for words in IN_A_SCRIPT if words not in left] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ident", ERRORS)
def test_errors_of_foreign_scripts_lead_to_the_list(ident, language):
    messages = [message for topic in error_messages.topics().values() for message in topic["messages"]]
    cure = next(message["cure"][language] for message in messages if message["id"] == ident)
    assert f"](../{LIST})" in cure


@pytest.mark.parametrize("ident", ANSWERS)
def test_answers_about_foreign_scripts_lead_to_the_list(ident):
    assert f"](../{LIST})" in parts(ROOT)[f"faq#{ident}"].text


def found(folder):
    """Return (file, line) of everything that the recipe prints in a folder."""
    *rows, last = run_recipe(RECIPES["cuda_script"], folder)[0].splitlines()
    places = [(file, int(line)) for file, line, _ in (row.split(" | ", 2) for row in rows)]
    files = {file for file, _ in places}
    assert last == (f"{len(places)} lines in {len(files)} files" if rows else "nothing found")
    return places


def test_recipe_finds_what_the_list_has(tmp_path):
    codes = listed("en")
    (tmp_path / "train.py").write_text("\n".join(codes), encoding="utf-8")
    lines = {line for _, line in found(tmp_path)}
    missed = [code for line, code in enumerate(codes, 1) if line not in lines]
    assert sorted(missed) == sorted(NOT_LOOKED_FOR)


def test_recipe_looks_into_scripts_and_configurations(tmp_path):
    for name in ("a/run.sh", "b.yml", "c.py", "notes.md", ".venv/lib/site-packages/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n--fp16 torchrun", encoding="utf-8")
    assert sorted(found(tmp_path)) == [("a/run.sh", 2), ("b.yml", 2), ("c.py", 2)]


def test_recipe_leaves_code_for_macs_alone(tmp_path):
    text = (
        "device = 'mps' if torch.backends.mps.is_available() else 'cpu'\nmodel.to(device)\nre.compile('x')\n"
        "import tritonclient.grpc\nnproceedings = 1  # not torch.cuda.synchronize()\n"
        "scaler.step(optimizer)\nDataLoader(data, num_workers=0)\n"
    )
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [
        "dtype = 'float16' if a else 'float16'  # float16",  # once, as in nanoGPT
        "python train.py --device cuda --nproc_per_node=8",
        "optim: paged_adamw_32bit",
        "if torch.cuda.is_available():",
        "from torch.cuda import amp",
        "x = x.to(device, non_blocking=True)",
        "    num_workers: 8",
        'if device.type == "cuda":  # a branch for it',
    ],
)
def test_recipe_prints_a_line_once_and_whole(line, tmp_path):
    (tmp_path / "train.py").write_text(f"\n{line}\n", encoding="utf-8")
    printed, _ = run_recipe(RECIPES["cuda_script"], tmp_path)
    assert printed == f"train.py | 2 | {line.strip()}\n1 lines in 1 files\n"
