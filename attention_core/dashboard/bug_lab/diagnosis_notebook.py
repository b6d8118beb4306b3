"""The notebook of the bug lab, what is wrong with a specimen: asked, and told once it is out."""

from attention_core.dashboard.bug_lab.case import Case
from attention_core.dashboard.bug_lab.difference import repair
from attention_core.dashboard.bug_lab.stories import STORIES
from attention_core.dashboard.bug_lab.symptoms_panel import in_numbers
from attention_core.dashboard.export.notebook_section import Choice, Code, NotebookSection, Words
from attention_core.faults import right

GUESS = Code("""
guess = right  # or a function of your own, with the fault that you suspect
tried = symptoms(guess, q, k, v, mask, padding)
error = tried if isinstance(tried, str) else None
fits = in_numbers(tried) == list(seen.values()) and error == seen_error
print("Every symptom fits." if fits else "Not every symptom fits.")
pd.DataFrame({"The specimen": seen, "Your guess": dict(zip(seen, in_numbers(tried)))})
""")
AGAIN = """
again = symptoms({name}, q, k, v, mask, padding)
error = again if isinstance(again, str) else None
fits = in_numbers(again) == list(seen.values()) and error == seen_error
print("It does what was seen." if fits else "It does not do quite what was seen: another machine?")
pd.DataFrame({{"The specimen": seen, "The same, run here": dict(zip(seen, in_numbers(again)))}})
"""
TRY = (
    "Its code stays hidden until you have named its fault. To try an idea, copy the function "
    "`right`, give it another name, change the line that you suspect, and put that name in place "
    "of `right` below. If every symptom fits, try it under other settings too."
)


def diagnosis_section(
    case: Case, guess: str | None = None, said: str = "", *, out: bool = False
) -> NotebookSection:
    """The question and how to check an idea; once the answer is `out`, the fault and its repair."""
    asked = f"What is wrong with specimen {case.letter}?"
    meaning = "your diagnosis; None if you have not made one, or asked to be shown"
    choices = (Choice("prediction", guess, meaning),)
    if not out:
        words = (asked, *([said] if said else ()), TRY)
        return NotebookSection("Your diagnosis", words, choices, (GUESS,), (right, in_numbers))
    again = Code(AGAIN.format(name=case.truth.__name__))
    cells = (Words(said), _told(case), again)
    return NotebookSection(
        "Your diagnosis", (asked,), choices, cells, (right, case.truth, in_numbers)
    )


def _told(case: Case) -> Words:
    """What the page tells once the fault is out."""
    story, difference = STORIES[case.truth], repair(case.truth)
    lines = f"stands in the specimen, + in the right one:\n\n```diff\n{difference}\n```"
    told = [
        f"**The repair.** − {lines}" if difference else "**No repair.** It is the right one.",
        f"**Why people write it.** {story.why}",
        f"**How to notice it in your own code.** {story.notice}",
        f"**When it does not show.** {story.hides}" if story.hides else "",
    ]
    return Words("\n\n".join(filter(None, told)))
