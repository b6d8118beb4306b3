"""The exercises of the lesson, in its order; each part uses the flow of `exercise.py`."""

from attention_core.attention import attention_steps
from attention_core.convolution import toeplitz
from attention_core.dashboard.exercises.dense_scale import DENSE, show_dense
from attention_core.dashboard.exercises.equal_query import WEIGHT, show_equal_query
from attention_core.dashboard.exercises.fixed_weights import CONTENT, show_fixed_weights
from attention_core.dashboard.exercises.one_hot_scale import ONE_HOT, show_one_hot
from attention_core.dashboard.exercises.receptive_field import REACH, show_receptive_field
from attention_core.dashboard.exercises.softmax_gradient import GRADIENT, show_gradient
from attention_core.dashboard.exercises.unequal_query import UNEQUAL, show_unequal_query
from attention_core.dashboard.exercises.window_mask import MASK, show_window_mask
from attention_core.dashboard.lesson import EXERCISE_TITLES
from attention_core.dashboard.questions.exercise import Exercise
from attention_core.masks import local, reachable
from attention_core.measures import softmax_jacobian_norm
from attention_core.retrieval import blend, coefficient_for_share, retrieve
from attention_core.scaling import scale_for, scaling_study

EXERCISES = (
    Exercise(
        EXERCISE_TITLES[0],
        (WEIGHT, UNEQUAL),
        (show_equal_query, show_unequal_query),
        (blend, retrieve, coefficient_for_share, attention_steps),
    ),
    Exercise(
        EXERCISE_TITLES[1],
        (ONE_HOT, DENSE, GRADIENT),
        (show_one_hot, show_dense, show_gradient),
        (scale_for, scaling_study, softmax_jacobian_norm, attention_steps),
    ),
    Exercise(
        EXERCISE_TITLES[2],
        (MASK, REACH, CONTENT),
        (show_window_mask, show_receptive_field, show_fixed_weights),
        (local, reachable, toeplitz, attention_steps),
    ),
)
