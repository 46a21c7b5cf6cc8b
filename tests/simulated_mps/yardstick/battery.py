"""Runs the calls of calls.txt and compares what happens with what a Mac does, by evidence.

On a Mac, in any Python that has PyTorch (2.13 or newer), with nothing else installed:

    python battery.py --write verdicts/2.15.0-macos15.json      # some minutes; send this file as a pull request
    python battery.py --read verdicts/2.15.0-macos15.json --beside simulated.json     # evidence, Mac, simulated device

On Linux, where the simulated device is installed (`--only complex` runs one subject, `--list` prints disagreements):

    python battery.py --simulated 2.15 --write simulated.json --list
"""

import argparse
import ast
import contextlib
import datetime
import json
import os
import platform
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

HERE = Path(__file__).resolve().parent
CALLS = HERE / "calls.txt"
KINDS = ("missing", "dtype", "complex", "shape", "autograd", "sparse", "other", "plain")
TITLES = {"missing": "missing operator", "plain": "(ordinary calls)"}
GROUP = 120  # calls that share a process
PER_CALL, PER_GROUP = 60, 600  # seconds


class Call(NamedTuple):
    """A line of calls.txt."""

    subject: str
    kind: str
    verdict: str
    text: str
    code: str


def read_calls(path: Path = CALLS) -> list[Call]:
    """All calls, in the order of the file."""
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
    """What the evidence says of this release: ok, no or ?."""
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


# ---------------------------------------------------------------- in the process that runs a group


def give_up(_signal: int, _frame: Any) -> NoReturn:
    """A call that takes too long is refused by us."""
    raise TimeoutError(f"no result after {PER_CALL} s")


def evaluate(code: str, names: dict[str, Any]) -> Any:
    """Runs the statements of a call and returns the value of the last, if it has one."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "call", "exec"), names)
    return (
        eval(compile(ast.Expression(last.value), "call", "eval"), names)
        if isinstance(last, ast.Expr)
        else None
    )


def outcome(code: str, device: str) -> str:
    """`ok`, or the type and the text of the error."""
    import setting
    import torch

    if "np." in code and setting.np is None:
        return "left out: no NumPy"
    torch.manual_seed(0)
    signal.alarm(PER_CALL)
    try:
        evaluate(code, setting.namespace(device))
        if device == "mps":
            torch.mps.synchronize()
    except Exception as error:
        return f"{type(error).__name__}: " + " ".join(str(error).split())[:400]
    finally:
        signal.alarm(0)
        setting.restore()
    return "ok"


def run_here(numbers: list[int], device: str) -> None:
    """Prints a line of JSON for each call, at once, so that a crash loses one call."""
    signal.signal(signal.SIGALRM, give_up)
    calls = read_calls()
    out = os.fdopen(os.dup(1), "w")  # what calls print goes elsewhere
    os.dup2(2, 1)
    for number in numbers:
        print(json.dumps([number, outcome(calls[number].code, device)]), file=out, flush=True)


# ---------------------------------------------------------------- in the process that asks


def run_group(numbers: list[int], device: str, environment: dict[str, str]) -> dict[int, str]:
    """The outcomes of a group; after a crash, a new process goes on with the next call."""
    found: dict[int, str] = {}
    while rest := [number for number in numbers if number not in found]:
        command = [
            sys.executable,
            "-W",
            "ignore",
            __file__,
            "--device",
            device,
            "--run",
            ",".join(map(str, rest)),
        ]
        try:
            process = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PER_GROUP
            )
            lines, end = (
                process.stdout,
                f"crash: exit code {process.returncode}: {process.stderr[-300:].decode()}",
            )
        except subprocess.TimeoutExpired as error:
            lines, end = error.stdout or b"", "crash: hangs"
        for line in lines.splitlines():
            number, result = json.loads(line)
            found[number] = result
        missing = [number for number in rest if number not in found]
        if missing:
            found[missing[0]] = end
    return found


def run_all(calls: list[Call], device: str, simulated: str, only: str) -> dict[str, str]:
    """The outcome of each call, by its code."""
    environment = dict(os.environ)
    if simulated:
        environment["SIMULATED_MPS"] = simulated
    wanted = [number for number, call in enumerate(calls) if only in ("", call.subject)]
    found: dict[int, str] = {}
    for start in range(0, len(wanted), GROUP):
        found |= run_group(wanted[start : start + GROUP], device, environment)
        print(f"{min(start + GROUP, len(wanted))} of {len(wanted)} calls", file=sys.stderr)
    return {calls[number].code: found[number] for number in wanted}


class Judged(NamedTuple):
    """A call with both verdicts: agree, accepted, refused, text, crash, unknown or left out."""

    call: Call
    expected: str
    found: str

    @property
    def word(self) -> str:
        """What came out: ok, no or crash."""
        return self.found if self.found == "ok" else "crash" if self.found.startswith("crash") else "no"

    @property
    def same_text(self) -> bool:
        """Whether an error has the text that a Mac prints, where the evidence has one."""
        return self.call.text.lower() in self.found.lower()


def judge(calls: list[Call], found: dict[str, str], release: str) -> tuple[list[Judged], Counter[str]]:
    """The calls that count, and how many were left out, by reason."""
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
    """A part of a whole, with both numbers."""
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "-"


def matrix(judged: list[Judged], out: Counter[str]) -> str:
    """The table by kind: accepted of ok, refused of refusals, and with the right text."""
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
    lines.append("left out: " + (", ".join(f"{count} {reason}" for reason, count in out.items()) or "none"))
    return "\n".join(lines)


def disagreements(judged: list[Judged]) -> list[str]:
    """A line for each call whose outcome is not the expected one."""
    return [
        f"{item.call.kind:8} expected {item.expected:2} found {item.found[:150]} :: {item.call.code}"
        for item in judged
        if item.word != item.expected
    ]


def compare(calls: list[Call], mac: dict[str, str], beside: dict[str, str], release: str) -> str:
    """How often evidence, Mac and simulated device say what."""
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
    """What a reader needs to know of where the calls ran."""
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
    """The command line."""
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
    parser.add_argument("--device", default="mps", help=argparse.SUPPRESS)
    parser.add_argument("--run", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Runs or reads, prints the table, writes the file."""
    asked = arguments()
    calls = read_calls()
    if asked.run:
        run_here([int(number) for number in asked.run.split(",")], asked.device)
        return
    if asked.read:
        report = json.loads(asked.read.read_text(encoding="utf-8"))
    else:
        machine = this_machine()
        report = {
            **machine,
            "release": asked.simulated or machine["torch"].split("+")[0],
            "device": asked.device,
        }
        report["calls"] = run_all(calls, asked.device, asked.simulated, asked.only)
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
