"""What a program did on the simulated device."""

from dataclasses import dataclass

from simulated_mps import device


@dataclass(frozen=True)
class Report:
    """Counts since the device was enabled."""

    release: str
    with_kernel: dict[str, int]  # operator → calls
    fell_back: dict[str, int]
    missing: dict[str, int]
    events: dict[str, int]
    peak_bytes: int

    def lines(self, *, every_operator: bool = False) -> list[str]:
        """Return the report for people, with the calls of every single operator if that is asked."""
        calls = sum(self.with_kernel.values())
        lines = [
            f"simulated MPS, operators of PyTorch {self.release}",
            f"  operators    {len(self.with_kernel)} different ones, {calls:,} calls",
            f"  peak memory  {self.peak_bytes / 1e6:,.1f} MB",
        ]
        if every_operator:
            lines += [f"  {count:11,}  {name}" for name, count in sorted(self.with_kernel.items())]
        lines += [f"  MISSING      {name} ({count:,} calls)" for name, count in sorted(self.missing.items())]
        lines += [
            f"  fell back    {name} ({count:,} calls)" for name, count in sorted(self.fell_back.items())
        ]
        lines += [f"  {MEANING.get(name, name)}: {count:,}" for name, count in sorted(self.events.items())]
        return lines


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
    return Report(device.release, *groups, device.loaded.events(), device.loaded.peak())
