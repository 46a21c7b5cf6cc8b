"""Run the calls of calls.txt and compare what happens with what a Mac does, by evidence.

On a Mac, in any Python that has PyTorch 2.13 or newer, from a copy of this folder (some minutes):

    python battery.py --write verdicts/2.15.0-macos15.json

That file is the pull request. `--read FILE --beside simulated.json` counts what evidence, Mac and simulated
device say. On Linux, with the simulated device installed, as PyTorch 2.15:

    python battery.py --simulated 2.15 --write simulated.json --list
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CALLS = HERE / "calls.txt"
KINDS = ("missing", "dtype", "complex", "shape", "autograd", "sparse", "other", "plain")
TITLES = {"missing": "missing operator", "plain": "(ordinary calls)"}
GROUP = 120  # calls that share a process
GROUP_SECONDS = 900


class Call(NamedTuple):
    """A line of calls.txt."""

    subject: str
    kind: str
    verdict: str
    text: str
    code: str


def read_calls(path: Path = CALLS) -> list[Call]:
    """Return all calls, in the order of the file."""
    calls, subject = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if re.fullmatch(r"\[[a-z. ]+\]", line):
            subject = line[1:-1]
        elif line and not line.startswith("#"):
            head, code = line.split(" :: ", 1)
            kind, verdict, evidence = head.split(" ", 2)
            text = re.search(r'"([^"]*)"$', evidence)
            calls.append(Call(subject, kind, verdict, text.group(1) if text else "", code))
    return calls


def expected(call: Call, release: str) -> str:
    """Return what the evidence says of this release: ok, no or ?."""
    number = tuple(int(part) for part in release.split(".")[:2])
    for part in call.verdict.split(","):
        span, _, word = part.rpartition("=")
        first, dots, last = span.partition("..")
        bounds = [
            tuple(int(x) for x in bound.split("."))
            for bound in (first or "0.0", last or ("99.0" if dots else first or "99.0"))
        ]
        if bounds[0] <= number <= bounds[1]:
            return word
    return "?"


def run_group(codes: list[str], device: str, values: bool, environment: dict[str, str]) -> dict[str, str]:
    """Return the outcomes of a group; after a crash, a new process goes on with the next call."""
    found: dict[str, str] = {}
    while rest := [code for code in codes if code not in found]:
        asked = json.dumps({"device": device, "values": values, "codes": rest}).encode()
        command = [sys.executable, "-W", "ignore", str(HERE / "run_calls.py")]
        try:
            process = subprocess.run(
                command, input=asked, env=environment, capture_output=True, timeout=GROUP_SECONDS
            )
            lines = process.stdout
            end = f"crash: exit code {process.returncode}: {process.stderr[-300:].decode(errors='replace')}"
        except subprocess.TimeoutExpired as error:
            lines, end = error.stdout or b"", "crash: hangs"
        for line in lines.splitlines():
            code, result = json.loads(line)
            found[code] = result
        missing = [code for code in rest if code not in found]
        if missing:
            found[missing[0]] = end
    return found


def run_all(codes: list[str], device: str, simulated: str, values: bool) -> dict[str, str]:
    """Return the outcome of each call, by its code."""
    # Without these, the calls would be part of the report of a test run that started this program.
    environment = {name: text for name, text in os.environ.items() if not name.startswith("SIMULATED_MPS")}
    if simulated:
        environment["SIMULATED_MPS"] = simulated
    found: dict[str, str] = {}
    for start in range(0, len(codes), GROUP):
        found |= run_group(codes[start : start + GROUP], device, values or not simulated, environment)
        print(f"{min(start + GROUP, len(codes))} of {len(codes)} calls", file=sys.stderr)
    return found


class Judged(NamedTuple):
    """A call with what evidence says and what happened."""

    call: Call
    expected: str
    found: str

    @property
    def word(self) -> str:
        """Return what came out: ok, no or crash."""
        return "ok" if self.found.startswith("ok") else "crash" if self.found.startswith("crash") else "no"

    @property
    def same_text(self) -> bool:
        """Tell whether an error has the text that a Mac prints, where the evidence has one."""
        return self.call.text.lower() in self.found.lower()


def judge(calls: list[Call], found: dict[str, str], release: str) -> tuple[list[Judged], Counter[str]]:
    """Return the calls that count, and how many were left out, by reason."""
    judged, out = [], Counter[str]()
    for call in calls:
        word = expected(call, release)
        if call.code not in found or found[call.code].startswith("left out"):
            out["not run"] += 1
        elif word == "?":
            out["no evidence"] += 1
        else:
            judged.append(Judged(call, word, found[call.code]))
    return judged, out


def share(part: int, whole: int) -> str:
    """Return a part of a whole in words, with both numbers."""
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "-"


def matrix(judged: list[Judged], out: Counter[str]) -> str:
    """Return the table by kind: accepted of ok, refused of refusals, and with the right text."""
    form = "{:18} {:>24} {:>24} {:>24} {:>7}"
    lines = [form.format("kind", "ok: accepted", "refusals: refused", "with a Mac's text", "crashes")]
    for kind in (*KINDS, "all"):
        mine = [item for item in judged if kind in ("all", item.call.kind)]
        ok = [item for item in mine if item.expected == "ok"]
        no = [item for item in mine if item.expected == "no"]
        texts = [item for item in no if item.call.text and item.word == "no"]
        cells = [
            share(sum(item.word == "ok" for item in ok), len(ok)),
            share(sum(item.word == "no" for item in no), len(no)),
            share(sum(item.same_text for item in texts), len(texts)),
        ]
        lines.append(form.format(TITLES.get(kind, kind), *cells, sum(item.word == "crash" for item in mine)))
    other = [item.call.code for item in judged if item.found.startswith("ok,")]
    lines += [f"other values than the CPU's: {len(other)}", *other] if other else []
    lines.append("left out: " + (", ".join(f"{count} {reason}" for reason, count in out.items()) or "none"))
    return "\n".join(lines)


def disagreements(judged: list[Judged]) -> list[str]:
    """Return a line for each call whose outcome is not the expected one."""
    return [
        f"{item.call.kind:8} expected {item.expected:2} found {item.found[:150]} :: {item.call.code}"
        for item in judged
        if item.word != item.expected
    ]


def compare(calls: list[Call], mac: dict[str, str], beside: dict[str, str], release: str) -> str:
    """Count what evidence, Mac and simulated device say."""
    counts: Counter[tuple[str, ...]] = Counter()
    for call in calls:
        if call.code in mac and call.code in beside:
            words = [Judged(call, "", found[call.code]).word for found in (mac, beside)]
            counts[(call.kind, expected(call, release), *words)] += 1
    head = "kind       evidence  Mac    simulated  calls"
    return "\n".join(
        [head, *("{:10} {:9} {:6} {:10} {}".format(*key, n) for key, n in sorted(counts.items()))]
    )


def this_machine() -> dict[str, str]:
    """Return what a reader needs to know of where the calls ran."""
    chip = ""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        chip = subprocess.run(
            ["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, check=True
        ).stdout.strip()
    asked = [sys.executable, "-c", "import torch; print(torch.__version__)"]
    return {
        "chip": chip or platform.machine(),
        "system": f"macOS {platform.mac_ver()[0]}" if platform.mac_ver()[0] else platform.system(),
        "torch": subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()[-1],
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
        "command": "python " + " ".join([Path(__file__).name, *sys.argv[1:]]),
    }


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--simulated", metavar="RELEASE", default="", help="run on the simulated device of that release"
    )
    parser.add_argument("--only", metavar="SUBJECT", default="", help="run the calls of one subject")
    parser.add_argument("--write", metavar="FILE", type=Path, help="write what happened, as JSON")
    parser.add_argument(
        "--read", metavar="FILE", type=Path, help="read such a file instead of running the calls"
    )
    parser.add_argument(
        "--beside", metavar="FILE", type=Path, help="compare with such a file of the simulated device"
    )
    parser.add_argument("--list", action="store_true", help="print every disagreement")
    parser.add_argument(
        "--values", action="store_true", help="compare values with the CPU's (on a Mac always)"
    )
    parser.add_argument("--device", default="mps", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Run or read, print the table, write the file."""
    asked = arguments()
    calls = read_calls()
    if asked.read:
        report = json.loads(asked.read.read_text(encoding="utf-8"))
    else:
        machine = this_machine()
        report = {
            **machine,
            "release": asked.simulated or machine["torch"].split("+")[0],
            "device": asked.device,
        }
        codes = [call.code for call in calls if asked.only in ("", call.subject)]
        report["calls"] = run_all(codes, asked.device, asked.simulated, asked.values)
    judged, out = judge(calls, report["calls"], report["release"])
    print(matrix(judged, out))
    if asked.list:
        print("\n".join(disagreements(judged)))
    if asked.beside:
        beside = json.loads(asked.beside.read_text(encoding="utf-8"))["calls"]
        print(compare(calls, report["calls"], beside, report["release"]))
    if asked.write:
        asked.write.parent.mkdir(parents=True, exist_ok=True)
        asked.write.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"written: {asked.write}")


if __name__ == "__main__":
    main()
