"""The checks of the claims, through examples/check_claims.py; those that only a Mac can answer come first."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from examples import check_claims
from examples.verifying.steps import ROOT, Ended, Found, Place, Step, not_tried


def run_claim(claim: Mapping[str, Any], seconds: float) -> Found:
    """Run the check of a claim."""
    word, reason = check_claims.outcome(claim, ROOT, seconds)
    if check_claims.TOO_LONG in reason:
        return Ended(None).found(seconds)
    if word == check_claims.HOLDS:
        return {"outcome": word}
    if word == check_claims.FAILS:
        check = claim["check"]
        return {"outcome": word, "expected": check.get("expect") or check["test"], "found": reason}
    return not_tried(reason)


def steps(place: Place) -> Iterator[Step]:
    """Yield a step for each claim that has a check; those with a test only with --full."""
    claims = [claim for _, claim in check_claims.read_claims(ROOT) if "none" not in claim["check"]]
    for claim in sorted(claims, key=lambda claim: (not claim["check"].get("mac"), "test" in claim["check"])):
        check = claim["check"]
        why = place.why_not("macos") if check.get("mac") else ""
        why = "only with --full" if "test" in check and not place.full else why
        seconds = 0 if why else 12.0 if "test" in check else 2.2
        run = partial(run_claim, claim)
        yield Step("claim", claim["id"], seconds, run, check_claims.SECONDS, why)
