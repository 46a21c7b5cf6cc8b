"""Where results come from: machine, versions, date and command, in the same words below every table.

A result of docs/data/results/ has these four keys, `date` as a list if there were several, and `program`
("tools/measuring/x.py at COMMIT") where the command's program stands in the history alone. The machine may
have:

    system        "Linux x86_64", "macOS 26.1 arm64"
    chip          "Apple M4 Max"
    cpu_cores, cpu_threads
    gpu           "NVIDIA H200"; on a Mac "40 GPU cores"
    memory_gb, power, tf32_convolutions
    shared, busy  by hand: true where others computed on the same cores
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.read_yaml import read_yaml

DATA = Path(__file__).resolve().parent.parent / "data"
RESULTS = DATA / "results"
COMPUTED = DATA / "computed"  # by the programs, and compared with them by their tests

PACKAGES = {  # in the order in which they are named
    "torch": "PyTorch",
    "python": "Python",
    "torchvision": "torchvision",
    "pillow": "Pillow",
    "numpy": "NumPy",
    "pandas": "pandas",
    "ta-lib": "TA-Lib",
    "pytorch-lightning": "Lightning",
    "mkdocs-material": "Material for MkDocs",
}
WORDS: dict[str, dict[str, Any]] = {
    "en": {
        "cpu": "{count} {state}{kind}CPU cores",
        "kind": "x86-64 ",
        "no_kind": "",
        "state": {(True, True): "shared and busy ", (True, False): "shared ", (False, True): "busy "},
        "gpu_cores": r"\1 GPU cores",
        "threads": "{count} threads",
        "thread": "one thread",
        "memory": "{size:.0f} GiB of memory",
        "power": {"AC Power": "on mains power", "Battery Power": "on battery"},
        "tf32": "Float32 convolutions on the GPU computed in TF32, as PyTorch lets them by default.",
        "comma": ", ",
        "dates": ", ",
        "between": " ",
        "named": "{name}: {sentence}",
        "where": "{machine}; {versions}; {date}.",
        "command": "Made by `{command}`.",
        "program": "Made by `{command}` at commit `{commit}`.",
    },
    "zh": {
        "cpu": "{count} 个{state}{kind}CPU 核",
        "kind": " x86-64 ",
        "no_kind": " ",
        "state": {(True, True): "共享且繁忙的", (True, False): "共享的", (False, True): "繁忙的"},
        "gpu_cores": r"\1 个 GPU 核",
        "threads": "{count} 个线程",
        "thread": "单线程",
        "memory": "{size:.0f} GiB 内存",
        "power": {"AC Power": "接电源", "Battery Power": "用电池"},
        "tf32": "GPU 上的 float32 卷积按 PyTorch 的默认设置用 TF32 计算。",
        "comma": "，",
        "dates": "、",
        "between": "",
        "named": "{name}：{sentence}",
        "where": "{machine}；{versions}；{date}。",
        "command": "由 `{command}` 生成。",
        "program": "由提交 `{commit}` 中的 `{command}` 生成。",
    },
}


def load(name: str, folder: Path = RESULTS) -> Any:
    """Return the content of docs/data/results/<name>.yaml, or of a file of another folder."""
    return read_yaml(folder / f"{name}.yaml")


def _cores(machine: Mapping[str, Any], language: str) -> str:
    words = WORDS[language]
    state = words["state"].get((bool(machine.get("shared")), bool(machine.get("busy"))), "")
    kind = words["kind"] if "x86_64" in machine.get("system", "") else words["no_kind"]
    return words["cpu"].format(count=machine["cpu_cores"], state=state, kind=kind)


def _gpu(machine: Mapping[str, Any], language: str) -> str:
    return re.sub(r"^(\d+) GPU cores$", WORDS[language]["gpu_cores"], machine["gpu"])


def _mac(machine: Mapping[str, Any]) -> list[str]:
    return [machine["chip"]] if machine.get("system", "").startswith("macOS") else []


def processor(machine: Mapping[str, Any], device: str, language: str) -> str:
    """Return what computed, in words: "NVIDIA H200", "2 x86-64 CPU cores", "Apple M4 Max, 40 GPU cores"."""
    name = (_cores if device == "cpu" else _gpu)(machine, language)
    return WORDS[language]["comma"].join([*_mac(machine), name])


def machine_words(machine: Mapping[str, Any], language: str, device: str | None = None) -> str:
    """Return the machine in words; without its GPU for a result of the CPU alone (device "cpu")."""
    words, parts = WORDS[language], _mac(machine)
    if machine.get("gpu") and device != "cpu":
        parts.append(_gpu(machine, language))
    if machine.get("cpu_cores"):
        parts.append(_cores(machine, language))
    if threads := machine.get("cpu_threads"):
        parts.append(words["thread"] if threads == 1 else words["threads"].format(count=threads))
    if machine.get("memory_gb") and _mac(machine):
        parts.append(words["memory"].format(size=machine["memory_gb"] * 1e9 / 2**30))
    if power := machine.get("power"):
        parts.append(words["power"].get(power, power))
    if system := machine.get("system"):
        parts.append(system.rpartition(" ")[0])
    return words["comma"].join(parts)


def origin(result: Mapping[str, Any], language: str) -> str:
    """Return where `result` comes from, in a sentence; in a second one the command, where it has one."""
    words, versions = WORDS[language], result["versions"]
    known = [f"{name} {versions[package]}" for package, name in PACKAGES.items() if package in versions]
    machine = machine_words(result["machine"], language, result.get("device"))
    dates = result["date"] if isinstance(result["date"], list) else [result["date"]]
    date = words["dates"].join(map(str, dates))
    where = words["where"].format(machine=machine, versions=words["comma"].join(known), date=date)
    if not result.get("command"):
        return where
    commit = result.get("program", "").rpartition(" at ")[2]
    made = words["program" if commit else "command"].format(command=result["command"], commit=commit)
    return sentences(language, where, made)


def tf32(machine: Mapping[str, Any], language: str) -> str:
    """Return that convolutions were rounded to TF32, or nothing where they were not."""
    return WORDS[language]["tf32"] if machine.get("tf32_convolutions") else ""


def sentences(language: str, *parts: str) -> str:
    """Join sentences; empty ones are left out."""
    return WORDS[language]["between"].join(filter(None, parts))


def named(name: str, sentence: str, language: str) -> str:
    """Return a sentence with what it is about before it."""
    return WORDS[language]["named"].format(name=name, sentence=sentence)
