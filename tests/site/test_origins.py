"""Where a result comes from stands below its table, in the same words everywhere."""

from datetime import date
from pathlib import Path

import origins
import pytest

from tools.read_yaml import read_yaml

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "data" / "results"
MAC = {
    "system": "macOS 26.1 arm64",
    "chip": "Apple M4 Max",
    "cpu_cores": 16,
    "cpu_threads": 12,
    "gpu": "40 GPU cores",
    "memory_gb": 68.7,
    "power": "AC Power",
    "tf32_convolutions": False,
}
SERVER = {"system": "Linux x86_64", "chip": "Intel", "cpu_cores": 2, "cpu_threads": 1, "gpu": "NVIDIA H200"}


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        (
            "en",
            "Apple M4 Max, 40 GPU cores, 16 CPU cores, 12 threads, 64 GiB of memory, on mains power, "
            "macOS 26.1; PyTorch 2.15.0, Python 3.12; 2026-11-21. Made by `python x.py`.",
        ),
        (
            "zh",
            "Apple M4 Max，40 个 GPU 核，16 个 CPU 核，12 个线程，64 GiB 内存，接电源，macOS 26.1；"
            "PyTorch 2.15.0，Python 3.12；2026-11-21。由 `python x.py` 生成。",
        ),
    ],
)
def test_a_mac(language, sentence):
    result = {"machine": MAC, "versions": {"python": "3.12", "torch": "2.15.0"}, "date": date(2026, 11, 21)}
    assert origins.origin(result | {"command": "python x.py"}, language) == sentence
    gone = {"command": "python x.py", "program": "tools/x.py at a1b2c3d"}
    assert "a1b2c3d" in origins.origin(result | gone, language)
    assert origins.origin(result, language) == sentence[: sentence.index("2026-11-21") + 11]


@pytest.mark.parametrize(
    ("device", "by_hand", "english", "chinese"),
    [
        (
            "cuda",
            {},
            "NVIDIA H200, 2 x86-64 CPU cores, one thread, Linux",
            "NVIDIA H200，2 个 x86-64 CPU 核，单线程，Linux",
        ),
        (
            "cpu",
            {"shared": True},
            "2 shared x86-64 CPU cores, one thread, Linux",
            "2 个共享的 x86-64 CPU 核，单线程，Linux",
        ),
        (
            "cpu",
            {"shared": True, "busy": True},
            "2 shared and busy x86-64 CPU cores, one thread, Linux",
            "2 个共享且繁忙的 x86-64 CPU 核，单线程，Linux",
        ),
    ],
)
def test_cpu_result_does_not_name_the_gpu(device, by_hand, english, chinese):
    for language, words in (("en", english), ("zh", chinese)):
        assert origins.machine_words(SERVER | by_hand, language, device) == words


def test_what_computed():
    assert origins.processor(MAC, "mps", "en") == "Apple M4 Max, 40 GPU cores"
    assert origins.processor(MAC, "cpu", "zh") == "Apple M4 Max，16 个 CPU 核"
    assert origins.processor(SERVER, "cuda", "en") == "NVIDIA H200"


def results():
    """Return every part of a result file that says when it was made."""

    def below(value):
        if isinstance(value, dict) and "command" in value:
            yield value
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from below(part)

    for path in sorted(RESULTS.glob("*.yaml")):
        for result in below(read_yaml(path)):
            yield pytest.param(result, id=f"{path.stem}-{result['command']}")


RESULTS_WITH_ORIGIN = list(results())


@pytest.mark.parametrize("result", RESULTS_WITH_ORIGIN)
def test_every_result_says_where_it_comes_from(result):
    assert isinstance(result["date"], date)
    known = {
        "system",
        "chip",
        "cpu_cores",
        "cpu_threads",
        "gpu",
        "power",
        "shared",
        "busy",
        "tf32_convolutions",
    }
    assert {"system"} < result["machine"].keys() <= known
    assert result["versions"].keys() <= origins.PACKAGES.keys()
    for language in ("en", "zh"):
        sentence = origins.origin(result, language)
        assert result["command"] in sentence and "None" not in sentence


def test_there_are_such_results():
    assert len(RESULTS_WITH_ORIGIN) >= 14
