"""An evaluation as lines for the terminal."""

from collections.abc import Iterator
from typing import Any

from examples.indicator_transformer.learned import sentences

LOSSES = {
    "frequency": "constant frequencies",
    "blind": "the calls alone",  # on average; "calls": on these samples, when the average is unknown
    "calls": "the calls alone",
    "network": "this network",
    "best": "best possible",
}


def table(evaluation: dict[str, Any]) -> Iterator[str]:
    """Yield the lines."""
    count = len(evaluation["indicators"])
    yield (
        f"network    {evaluation['checkpoint']}: step {evaluation['step']:,}, "
        f"{evaluation['parameters']:,} parameters, {count} indicators"
    )
    yield f"device     {evaluation['device']}"
    yield f"data       {evaluation['bars']:,} bars: {evaluation['source']}"
    yield f"samples    {evaluation['samples']:,}, {evaluation['held_out']}"
    for note in evaluation["notes"]:
        yield f"note       {note}"
    yield from loss_lines(evaluation["losses"])
    yield from other_lines(evaluation)
    yield from calibration_lines(evaluation["calibration"])
    yield from selection_lines(evaluation)


def loss_lines(losses: dict[str, float | None]) -> Iterator[str]:
    """Yield the known cross-entropies, the one that should be largest first."""
    yield "BCE of usefulness, nats"
    for name, words in LOSSES.items():
        if losses.get(name) is not None:
            yield f"  {words:<24}{losses[name]:8.4f}" + (
                error(losses["network_standard_error"], ".4f") if name == "network" else ""
            )


def error(value: float | None, form: str) -> str:
    """Return a standard error as text, or "" when there is none."""
    return "" if value is None else f" ± {value:{form}}"


def other_lines(evaluation: dict[str, Any]) -> Iterator[str]:
    """Yield direction and selection over all samples."""
    found, selected = evaluation["direction"], evaluation["selected"]
    best = "" if found["best"] is None else f"; {found['best']:.2%} at best"
    yield (
        f"direction  right for {found['right']:.2%}{error(found['standard_error'], '.2%')} of "
        f"{found['samples']:,}{best}; no forecast for {found['without_forecast']:.2%}"
    )
    if evaluation["learned"] is not None:
        for line in sentences(evaluation["learned"]):
            yield f"learned    {line}"
    weighted = selected["like_equal_weights_of"]
    like = "" if weighted is None else f"; their weights are like {weighted:.1f} equal ones"
    yield f"selected   {selected['mean']:.1f} of {len(evaluation['indicators'])} on average{like}"


def calibration_lines(calibration: dict[str, Any]) -> Iterator[str]:
    """Yield predicted and observed usefulness by bin."""
    yield (
        f"calibration: error {calibration['error']:.4f}; {calibration['error_from_aim']:.4f} from what the "
        "loss aims at"
    )
    yield "  probability     count   mean  useful            aim"
    for part in calibration["bins"]:
        yield (
            f"  {part['low']:.1f} to {part['high']:.1f}  {part['count']:9,}  {part['predicted']:.3f}   "
            f"{part['observed']:.3f}{error(part['standard_error'], '.3f'):<8}  {part['expected']:.3f}"
        )


def selection_lines(evaluation: dict[str, Any]) -> Iterator[str]:
    """Yield the share of selected indicators of each family, by regime."""
    regimes = evaluation["regimes"]
    yield "selected, share of the samples in each market"
    names = [regime["name"].split(", ") for regime in regimes]
    for part in range(2):
        yield f"  {'':<30}" + "".join(f"{name[part]:>13}" for name in names)
    yield f"  {'samples':<30}" + "".join(f"{regime['samples']:>13,}" for regime in regimes)
    calls = None
    for row in evaluation["families"]:
        if row["calls"] != calls:
            calls = row["calls"]
            yield f"  {calls}"
        shares = ("-" if share is None else f"{share:.1%}" for share in row["selected"])
        yield f"    {row['name']:<28}" + "".join(f"{share:>13}" for share in shares)
