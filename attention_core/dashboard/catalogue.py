"""Every question that the pages ask: its key, and the title by which the Overview lists it."""

from attention_core.dashboard.lesson import (
    BUG_LAB,
    CAUSAL_MASKING,
    EXERCISE_TITLES,
    MASK_WORKSHOP,
    QKV_FORMULA,
    RETRIEVAL,
)

LETTERS = "ABCDEFGHIJKLM"  # of the bug lab's specimens
GROUPS: dict[str, dict[str, str]] = {
    QKV_FORMULA.title: {
        "qkv_symmetry": "If the keys are the queries: what is symmetric",
    },
    RETRIEVAL.title: {
        "ret_absent": "A token that is not there: where the weight goes",
    },
    CAUSAL_MASKING.title: {
        "mask_guess": "An edited token: which outputs move",
    },
    EXERCISE_TITLES[0]: {
        "ex_blend_weight": "Token 2 + token 4: the weight on each",
        "ex_blend_share": "How unequal before token 2 takes 90 %",
    },
    EXERCISE_TITLES[1]: {
        "ex_scale_onehot": "One-hot tokens, no scale: the largest weight from D = 8 to 128",
        "ex_scale_dense": "Dense random tokens, no scale: the largest weight from D = 8 to 128",
        "ex_scale_gradient": "Dense random tokens, no scale: how much softmax gradient is left at "
        "D = 128",
    },
    EXERCISE_TITLES[2]: {
        "ex_window_mask": "The mask of a local window of width 3",
        "ex_window_reach": "How far position 0 sees after 3 layers of width 3",
        "ex_window_content": "The content moves by one position: whose weights change",
    },
    MASK_WORKSHOP.title: {
        "work_gal_guess": "Twice as many tokens: which mask needs only twice the dot products",
        "work_conv_guess": "A mask read the other way round: what comes out",
        "work_dead_guess": "A dead row: which treatments can be trained",
        "work_align_guess": "Three queries, five keys: how many query 0 sees bottom-right",
        "work_bias_guess": "A finite bias: can it make a weight 0",
        "work_ch_1": "One step back",
        "work_ch_2": "Every other key",
        "work_ch_3": "Blocks that look back",
        "work_ch_4": "The newest queries of a cache",
        "work_ch_5": "Own block and summaries",
    },
    BUG_LAB.title: {f"lab_{letter}": f"Specimen {letter}" for letter in LETTERS},
}
TITLES: dict[str, str] = {key: title for group in GROUPS.values() for key, title in group.items()}
