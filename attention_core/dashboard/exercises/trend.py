"""Whether a number rises, stays or falls: what three questions of exercise 2 ask."""

from collections.abc import Mapping

from attention_core.dashboard.questions.verdict import Verdict, judged

RISES, SAME, FALLS = "It rises", "It stays the same", "It falls"
ALIKE = 0.005  # less than the second decimal, which is shown


def trend(before: float, after: float) -> str:
    """RISES, SAME or FALLS."""
    if abs(after - before) < ALIKE:
        return SAME
    return RISES if after > before else FALLS


def judge_trend(
    guess: str | None, before: float, after: float, feedback: Mapping[str, str], usual: str
) -> Verdict:
    """The guess against what was measured; `feedback` explains the `usual` outcome to it."""
    if guess is None:
        return Verdict(None, "")
    measured = trend(before, after)
    return judged(guess == measured, feedback[guess] if measured == usual else "")
