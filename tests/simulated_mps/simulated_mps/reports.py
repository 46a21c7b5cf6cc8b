"""What a program did on the simulated device."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from simulated_mps import device, findings, processes
from simulated_mps.findings import Finding

PLACES = 3  # that the report names for each line
NO_OPERATORS = (
    "no operator ran on the device, so nothing was tested there: the program chose another one. "
    "--allow-no-operators accepts that"
)
MEANING = {
    "item": "waits for one number (.item(), float(), if tensor)",
    "wait": "waits for a size or a number in",
    "mps to cpu": "copies from MPS to the CPU",
    "cpu to mps": "copies from the CPU to MPS",
    "refused": "refused arguments of",
    "refused Double": "refused float64",
    "refused ComplexDouble": "refused complex128",
    "no gradient": "MPS has no gradient of",
    "wrong values": "wrong values on MPS:",
    "limit": "not simulated, a Mac may do it:",
    "attention with gradients": "attention with gradients, on MPS without a fast kernel",
}
LISTED_FIRST = {"MISSING": "MISSING      ", "fell back": "fell back    "}


@dataclass(frozen=True)
class Report:
    """Counts since the device was enabled, of this process and of those it started that have ended."""

    release: str
    processes: int
    with_kernel: dict[str, int]  # operator → calls
    findings: dict[Finding, int]  # what happened besides, and where → how often
    peak_bytes: int  # of the process with the most

    @property
    def is_empty(self) -> bool:
        """Whether nothing was computed on the device, copied to it, nor tried."""
        return not (self.with_kernel or self.findings)

    @property
    def missing(self) -> dict[str, int]:
        """Operators without a kernel → calls."""
        return self.operators_of("MISSING")

    @property
    def fell_back(self) -> dict[str, int]:
        """Operators that the CPU computed → calls."""
        return self.operators_of("fell back")

    @property
    def events(self) -> dict[str, int]:
        """The rest, such as "item" → how often."""
        rest = ((found, count) for found, count in self.findings.items() if found.event not in LISTED_FIRST)
        return sum_by((found.event, count) for found, count in rest)

    def operators_of(self, event: str) -> dict[str, int]:
        """Return the operators to which `event` happened → how often."""
        chosen = ((found, count) for found, count in self.findings.items() if found.event == event)
        return sum_by((found.operator, count) for found, count in chosen)

    def lines(self, *, every_operator: bool = False, root: Path | None = None) -> list[str]:
        """Return the report for people, with paths seen from `root` (default: the working directory).

        With `every_operator`, also the calls of every single one.
        """
        calls = sum(self.with_kernel.values())
        lines = [
            f"simulated MPS, operators of PyTorch {self.release}",
            f"  operators    {len(self.with_kernel)} different ones, {calls:,} calls",
            f"  peak memory  {self.peak_bytes / 1e6:,.1f} MB",
        ]
        if self.processes > 1:
            lines.append(
                f"  processes    {self.processes}, counted together; the memory is that of the largest"
            )
        if every_operator:
            lines += [f"  {count:11,}  {name}" for name, count in sorted(self.with_kernel.items())]
        groups: dict[tuple[str, str], dict[Finding, int]] = {}
        for found, count in self.findings.items():
            groups.setdefault((found.event, found.operator), {})[found] = count
        ranks = {event: rank for rank, event in enumerate(LISTED_FIRST)}
        for event, operator in sorted(groups, key=lambda group: (ranks.get(group[0], len(ranks)), *group)):
            group = groups[event, operator]
            total = sum(group.values())
            if event in LISTED_FIRST:
                lines.append(f"  {LISTED_FIRST[event]}{operator} ({total:,} calls)")
            else:
                lines.append(f"  {f'{MEANING.get(event, event)} {operator}'.rstrip()}: {total:,}")
            lines += place_lines(group, root or Path.cwd())
        return lines


def place_lines(group: Mapping[Finding, int], root: Path) -> list[str]:
    """Return lines with the places of `group` that came by most often."""
    ranked = sorted(group.items(), key=lambda item: (-item[1], item[0].place(root)))
    lines = [f"      {described(found, count, root)}" for found, count in ranked[:PLACES]]
    if len(ranked) > PLACES:
        lines.append(f"      and {len(ranked) - PLACES} more places")
    return lines


def described(found: Finding, count: int, root: Path) -> str:
    """Return where something happened, how often if not once, and in which test first."""
    parts = [found.place(root)]
    if count > 1:
        parts.append(f"{count:,} times")
    if found.test:
        test = found.test.removeprefix(f"{found.path(root)}::")
        parts.append(f"{'first ' if count > 1 else ''}in {test}")
    if found.expected:
        parts.append("expected")
    return ", ".join(parts)


def sum_by(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the sum of the numbers for each name."""
    sums: Counter[str] = Counter()
    for name, number in pairs:
        sums[name] += number
    return dict(sums)


def report() -> Report:
    """Return the counts so far. Raises RuntimeError before `enable`."""
    if device.loaded is None or device.release is None:
        raise RuntimeError("call simulated_mps.enable() first")
    operators = device.loaded.operators().items()
    ours = Report(
        device.release,
        1,
        {name: calls for name, (verdict, calls) in operators if verdict == 0},
        dict(+findings.counts),
        device.loaded.peak(),
    )
    return together([ours, *map(from_json, processes.left_by_ended_children())])


def together(reports: Iterable[Report]) -> Report:
    """Return the sum of reports, with the release of the first."""
    reports = list(reports)
    operators: Counter[str] = Counter()
    places: dict[tuple, Finding] = {}
    counts: Counter[Finding] = Counter()
    for part in reports:
        operators.update(part.with_kernel)
        for found, count in part.findings.items():
            key = (
                found.event,
                found.operator,
                found.file,
                found.line,
                found.expected,
            )  # the first test stays
            counts[places.setdefault(key, found)] += count
    return Report(
        reports[0].release,
        sum(part.processes for part in reports),
        dict(operators),
        dict(counts),
        max(part.peak_bytes for part in reports),
    )


def to_json(whole: Report) -> dict:
    """Return what `from_json` reads in another process."""
    return {**vars(whole), "findings": [[asdict(found), count] for found, count in whole.findings.items()]}


def from_json(content: dict) -> Report:
    """Return the report of another process."""
    found = {Finding(**fields): count for fields, count in content["findings"]}
    return Report(**{**content, "findings": found})
