"""What a diagnosis that is not right is answered with."""

from attention_core.dashboard.bug_lab.case import Case
from attention_core.dashboard.bug_lab.evidence import evidence
from attention_core.dashboard.bug_lab.exposing import exposing_change
from attention_core.dashboard.bug_lab.hiding import why_hidden
from attention_core.dashboard.bug_lab.names import NAMES
from attention_core.faults import Implementation, right
from attention_core.faults.symptoms import symptoms
from attention_core.faults.telling_apart import rounding


def undecided(guess: Implementation, case: Case) -> str:
    """Why the settings cannot decide about this guess, and which change would."""
    same = "a right implementation" if guess is right else f"“{NAMES[guess].short}”"
    hides = why_hidden(guess, case.conditions) if right in case.alike else ""
    change = exposing_change(guess, case.truth, case.conditions)
    advice = f"Try {change}: there they differ." if change else "Try other settings."
    return (
        f"**This cannot be decided here.** Under these settings {same} and specimen {case.letter} "
        f"give the same weights and the same output. {hides} {advice}"
    ).replace("  ", " ")


def mismatch(guess: Implementation, case: Case) -> str:
    """What the guess would show under these conditions, against what is seen."""
    inputs = case.conditions.inputs()
    would = symptoms(guess, *inputs)
    return evidence(guess, would, case.seen, rounding(*inputs[:3]), case.place)
