"""What a program did on the simulated device."""

from collections import Counter
from dataclasses import dataclass

from simulated_mps import device, processes


@dataclass(frozen=True)
class Report:
    """Counts since the device was enabled, of this process and of those it started that have ended."""

    release: str
    processes: int
    with_kernel: dict[str, int]  # operator → calls
    fell_back: dict[str, int]
    missing: dict[str, int]
    events: dict[str, int]
    peak_bytes: int  # of the process with the most

    @property
    def is_empty(self) -> bool:
        """Whether nothing was computed on the device, nor tried."""
        return not (self.with_kernel or self.fell_back or self.missing)

    def lines(self, *, every_operator: bool = False) -> list[str]:
        """Return the report for people, with the calls of every single operator if that is asked."""
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
        lines += [f"  MISSING      {name} ({count:,} calls)" for name, count in sorted(self.missing.items())]
        lines += [
            f"  fell back    {name} ({count:,} calls)" for name, count in sorted(self.fell_back.items())
        ]
        lines += [f"  {MEANING.get(name, name)}: {count:,}" for name, count in sorted(self.events.items())]
        return lines


NO_OPERATORS = (
    "no operator ran on the device, so nothing was tested there: the program chose another one. "
    "--allow-no-operators accepts that"
)
MEANING = {
    "item": "waits for one number (.item(), float(), if tensor)",
    "mps to cpu": "copies from MPS to the CPU",
    "cpu to mps": "copies from the CPU to MPS",
    "refused Double": "refused float64",
    "refused ComplexDouble": "refused complex128",
    "attention with gradients": "attention with gradients, on MPS without a fast kernel",
    "attention without gradients": "attention without gradients",
}


def report() -> Report:
    """Return the counts so far. Raises RuntimeError before `enable`."""
    if device.loaded is None:
        raise RuntimeError("call simulated_mps.enable() first")
    groups = ({}, {}, {})
    for name, (verdict, calls) in device.loaded.operators().items():
        groups[verdict][name] = calls
    counts = [*groups, device.loaded.events()]
    number, peak = 1, device.loaded.peak()
    for child in processes.counts_of_children():
        found = (child["with_kernel"], child["fell_back"], child["missing"], child["events"])
        counts = [dict(Counter(ours) + Counter(theirs)) for ours, theirs in zip(counts, found, strict=True)]
        number, peak = number + child["processes"], max(peak, child["peak_bytes"])
    return Report(device.release, number, *counts, peak)
