"""Every question that the pages ask, under the title that the Overview lists it by."""

from attention_core.dashboard.bug_lab.specimens import SPECIMENS
from attention_core.dashboard.exercises.all_exercises import EXERCISES
from attention_core.dashboard.lesson import BUG_LAB, MASK_WORKSHOP
from attention_core.dashboard.mask_workshop.challenges import CHALLENGES
from attention_core.dashboard.questions.exercise import Question

GROUPS: dict[str, tuple[Question, ...]] = {
    **{exercise.title: exercise.questions for exercise in EXERCISES},
    MASK_WORKSHOP.title: CHALLENGES,
    BUG_LAB.title: SPECIMENS,
}
QUESTIONS = {question.key: question for group in GROUPS.values() for question in group}
