"""The lesson's table of contents, for the menu, the Overview and the links between pages."""

from dataclasses import dataclass

TITLE = "The Attention Mechanism"
PREVIOUS_LESSON = "Instance segmentation"
NEXT_LESSON = "The transformer architecture"
EXERCISE = "ex_exercise"  # the control that chooses one of them
EXERCISE_TITLES = ("Blended query", "No scale", "Local window")


@dataclass(frozen=True)
class Page:
    """One page: its file below the project's root, what it is called, and what it is for."""

    file: str
    title: str
    icon: str
    prefix: str  # of its widgets' keys, and so of its URL parameters
    minutes: int
    objective: str
    group: str = "The lesson"

    @property
    def path(self) -> str:
        """The last part of its URL: `qkv_formula` for `pages/1_qkv_formula.py`, "" for Overview."""
        name = self.file.removesuffix(".py")
        return name.removeprefix("pages/").split("_", 1)[1] if name.startswith("pages/") else ""


OVERVIEW = Page(
    "streamlit_app.py",
    "Overview",
    ":material/home:",
    "overview",
    2,
    f"{TITLE}: what the lesson holds, and where you are in it.",
    group="Start",
)
QKV_FORMULA = Page(
    "pages/1_qkv_formula.py",
    "QKV formula",
    ":material/function:",
    "qkv",
    15,
    "Follow every number from queries, keys and values to the output.",
)
RETRIEVAL = Page(
    "pages/2_retrieval.py",
    "Retrieval",
    ":material/manage_search:",
    "ret",
    10,
    "Use attention as a soft look-up: ask for a token, or for a blend of tokens.",
)
CAUSAL_MASKING = Page(
    "pages/3_causal_masking.py",
    "Causal masking",
    ":material/visibility_off:",
    "mask",
    15,
    "Hide the future, prove that it is hidden, and know when not to.",
)
EXERCISES = Page(
    "pages/4_exercises.py",
    "Exercises",
    ":material/exercise:",
    "ex",
    20,
    "Predict, try, be checked, and understand why.",
)
MASK_WORKSHOP = Page(
    "pages/5_mask_workshop.py",
    "Mask workshop",
    ":material/grid_on:",
    "work",
    20,
    "Write any mask as a rule, paint it, and say it in every convention.",
    group="Beyond the lesson",
)
BUG_LAB = Page(
    "pages/6_bug_lab.py",
    "Bug lab",
    ":material/bug_report:",
    "lab",
    20,
    "Find out from the symptoms alone what is wrong with an implementation of attention.",
    group="Beyond the lesson",
)
YOUR_TENSORS = Page(
    "pages/7_your_tensors.py",
    "Your tensors",
    ":material/upload_file:",
    "own",
    10,
    "Look at the attention of your own model, head by head.",
    group="Beyond the lesson",
)
PAGES = (
    OVERVIEW,
    QKV_FORMULA,
    RETRIEVAL,
    CAUSAL_MASKING,
    EXERCISES,
    MASK_WORKSHOP,
    BUG_LAB,
    YOUR_TENSORS,
)


def next_page(page: Page) -> Page | None:
    """The page after `page` in the lesson, or None after the last."""
    following = PAGES[PAGES.index(page) + 1 :]
    return following[0] if following else None
