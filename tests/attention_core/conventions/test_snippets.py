"""Every program is run as a learner would run it, and held against `attention`."""

import contextlib
import io
import itertools
import random
import subprocess
import sys
from types import ModuleType

import pytest
import torch

from attention_core.agreement import compare_with_torch
from attention_core.attention import attention
from attention_core.conventions.comparison import BOOLEAN, CONVENTIONS, FLEX, IS_CAUSAL, MULTIHEAD
from attention_core.conventions.snippets import snippets
from attention_core.mask_rules import MaskRuleError
from attention_core.mask_rules.tensor_code import rule_on_tensors
from attention_core.masks.gallery import GALLERY
from attention_core.sampling import sample_qkv

pytestmark = [
    pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile"),
    pytest.mark.filterwarnings("ignore:Lower right causal bias will produce NaNs"),
]
NUMBERS = itertools.count()
RULES = [entry.rule for entry in GALLERY]
OTHER_RULES = [
    "0 == 1",
    "0 == 0",
    "not j <= i",
    "j in (0, i) or j in range(2, n_k, 3)",
    "i % 2 == 0 and j > 0 and i % j == 0",  # to divide first would be an error
    "(i < 3) == (j < 3)",
    "(i < 2) + (j < 2) < 2",  # True + True is 2 in Python, True for tensors
    "n_q < n_k and j <= i",
    "-n_q <= i - j < n_k // 2",
    "max(i, j) < 3 or min(i, j) >= 3",
    "1 and j <= i",
    "\n j\t<= i \n\n or\r\n j == 4 ",
    "-7 // 2 + i > j and (i - j) % -3 == 0",
    "i * j % 2 == 1 or not (not abs(j - 2 * i) > 1)",
]


def run(code):
    """The printed text and the variables of a program in a fresh module of its own."""
    module, printed = ModuleType(f"program_{next(NUMBERS)}"), io.StringIO()
    sys.modules[module.__name__] = module  # where PyTorch's tracer looks for what mask_mod names
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(code, module.__name__, "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return printed.getvalue(), module.__dict__


def right_mask(rule, n_q, n_k, exceptions=()):
    """By Python itself, cell by cell."""
    cells = [
        [
            bool(eval(" ".join(rule.split()), dict(i=i, j=j, n_q=n_q, n_k=n_k)))
            != ((i, j) in exceptions)
            for j in range(n_k)
        ]
        for i in range(n_q)
    ]
    return torch.tensor(cells)


def assert_programs_agree(rule, n_q, n_k, d=(3, 3), exceptions=(), but=(), **options):
    found = snippets(rule, n_q, n_k, *d, exceptions=exceptions, **options)
    sizes = dict(n_k=n_k, d_v=d[1], seed=options.get("seed", 0))
    dtype = options.get("dtype", torch.float32)
    q, k, v = (tensor[0] for tensor in sample_qkv(1, n_q, d[0], dtype=dtype, **sizes))
    mask = right_mask(rule, n_q, n_k, exceptions)
    ours, _ = attention(q, k, v, mask)
    tolerance = compare_with_torch(q, k, v, mask).tolerance
    for name in found.keys() - set(but):
        printed, space = run(found[name])
        assert all(torch.equal(x, space[key]) for x, key in zip((q, k, v), "qkv", strict=True)), (
            name
        )
        torch.testing.assert_close(space["output"], ours, rtol=0, atol=tolerance, msg=name)
        assert printed == f"{space['output']}\n"
        assert torch.equal(space.get("mask", mask), mask)
    return found


@pytest.mark.parametrize("rule", RULES)
def test_the_gallery_runs_in_every_convention(rule):
    """FlexAttention builds each new program anew, so it is run at one pair of sizes only."""
    for n_q, n_k in ((1, 1), (1, 7), (7, 5), (13, 13)):
        assert_programs_agree(rule, n_q, n_k, but=[FLEX])
    found = assert_programs_agree(rule, 5, 11, seed=7)
    assert "may_attend" not in found[FLEX]  # every rule of the gallery can be said on tensors


@pytest.mark.parametrize("rule", OTHER_RULES)
def test_odd_rules_run_in_every_convention(rule):
    assert_programs_agree(rule, 5, 7)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_every_dtype(dtype):
    assert_programs_agree("j <= i", 7, 5, dtype=dtype, seed=3)
    assert_programs_agree("j <= i + n_k - n_q", 5, 7, dtype=dtype, seed=3, but=[FLEX])


@pytest.mark.parametrize("exceptions", [[(4, 6)], [(0, 0), (2, 5), (1, 1)]])
def test_painted_cells(exceptions):
    found = assert_programs_agree("j <= i", 5, 7, exceptions=exceptions)
    assert "mask[i, j]" in found[FLEX] and IS_CAUSAL not in found


def test_painted_cells_can_undo_the_rule():
    upper = [(i, j) for i in range(5) for j in range(5) if j > i]
    assert IS_CAUSAL in assert_programs_agree("0 == 0", 5, 5, exceptions=upper)


def test_all_cells_painted_on_lines_that_fit():
    cells = [(i, j) for i in range(13) for j in range(13)]
    found = assert_programs_agree("j <= i", 13, 13, exceptions=cells, but=[FLEX])
    for code in found.values():
        assert max(map(len, code.splitlines())) <= 88


def test_a_rule_without_room_for_it():
    rule = " or ".join(["i - j == 1"] * 13)
    assert_programs_agree(rule, 5, 7, but=[FLEX])


def test_a_program_runs_as_a_file(tmp_path):
    code = snippets("j in (0, i)", 3, 5, 3, 3, exceptions=[(2, 4)])[BOOLEAN]
    file = tmp_path / "program.py"
    file.write_text(code)
    printed = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True)
    assert printed.stdout == run(code)[0]


def random_rule(rng, depth=3):
    if depth == 0:
        left, right = (rng.choice(["i", "j", "n_q", "2", "i - j", "abs(i - j)"]) for _ in "ab")
        return f"{left} {rng.choice(['<', '<=', '==', '!=', '>'])} {right}"
    a, b = (random_rule(rng, depth - 1) for _ in "ab")
    return rng.choice([f"{a} and {b}", f"({a} or {b})", f"not ({a})", f"{a} or {b}", f"not {a}"])


def test_random_rules():
    rng = random.Random(0)
    for seed in range(60):
        n_q, n_k = rng.randint(1, 7), rng.randint(1, 7)
        cells = [(i, j) for i in range(n_q) for j in range(n_k)]
        painted = rng.sample(cells, min(len(cells), rng.randint(0, 3)))
        options = dict(d=(5, 5), exceptions=painted, but=[FLEX], seed=seed)
        assert_programs_agree(random_rule(rng), n_q, n_k, **options)


def test_random_rules_on_tensors():
    rng, spoken = random.Random(1), 0
    for _ in range(300):
        rule = random_rule(rng)
        if words := rule_on_tensors(rule):
            i, j = torch.arange(5)[:, None], torch.arange(7)[None]
            answer = eval(words, dict(i=i, j=j, n_q=5, n_k=7)).expand(5, 7)
            assert torch.equal(answer, right_mask(rule, 5, 7)), (rule, words)
            spoken += 1
    assert 50 < spoken < 300


@pytest.mark.parametrize("rule", OTHER_RULES[:2] + OTHER_RULES[3:8] + OTHER_RULES[9:11])
def test_what_tensors_cannot_say_is_looked_up(rule):
    assert rule_on_tensors(rule) is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("j <= i", "j <= i"),
        ("0 <= i - j < 3", "(0 <= i - j) & (i - j < 3)"),
        ("j <= i and (j < 1 or i - j < 3)", "(j <= i) & ((j < 1) | (i - j < 3))"),
        ("not i // 2 == j", "~(i // 2 == j)"),
        ("i % 0 == j", None),
    ],
)
def test_the_words_of_tensors(rule, words):
    assert rule_on_tensors(rule) == words


def test_sizes_of_keys_and_values_may_differ():
    assert MULTIHEAD not in assert_programs_agree("j <= i", 5, 7, d=(3, 2))


def test_the_triangles():
    square, wide = snippets("j <= i", 5, 5, 3, 3), snippets("j <= i + n_k - n_q", 5, 7, 3, 3)
    assert "is_causal=True" in square[IS_CAUSAL]
    assert "causal_lower_right(n_q, n_k)" in wide[IS_CAUSAL] and "is_causal" not in wide[IS_CAUSAL]
    assert list(square) == list(CONVENTIONS)


def test_the_opposite_polarity_is_another_output():
    code = snippets("j <= i", 5, 5, 3, 3)[MULTIHEAD]
    (_, right), (_, wrong) = run(code), run(code.replace("attn_mask=~mask", "attn_mask=mask"))
    assert (right["output"] - wrong["output"]).abs().amax(-1).min() > 0.1


@pytest.mark.parametrize(
    "rule",
    [
        "__import__('os').system('true')",
        "j <= i\nimport os",
        "j <= i  # comment",
        "(lambda: i)() == j",
        "j <= i; print(1)",
        "open('x') == j",
        "i if j else 0 == 0",
        "[i for i in (1,)] == j",
        "i",
        "i // j == 0",
        "j <= i)\n    return (0 == 0",
        "",
        "j <= i" + " " * 300,
    ],
)
def test_nothing_but_a_legal_rule_gets_into_a_program(rule):
    with pytest.raises(MaskRuleError):
        snippets(rule, 5, 7, 3, 3)


def test_the_rule_stands_in_the_program_as_it_was_accepted():
    for name, code in snippets(" j\n <=\t i ", 5, 7, 3, 3).items():
        if name != IS_CAUSAL:
            assert "    return j <= i\n" in code


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (dict(exceptions=[(5, 0)]), r"cells must be \(i, j\) of the mask \(5, 7\): \(5, 0\)"),
        (dict(exceptions=[(0, -1)]), r"\(0, -1\)"),
        (dict(seed=-1), "seed 0 or more"),
        (dict(seed="0)\nimport os"), "whole numbers"),
        (dict(n_q=0), "1 or more"),
        (dict(d_k="3"), "whole numbers"),
    ],
)
def test_other_arguments_are_checked_too(change, words):
    arguments = dict(rule="j <= i", n_q=5, n_k=7, d_k=3, d_v=3) | change
    with pytest.raises(ValueError, match=words):
        snippets(**arguments)


def test_another_device_stands_in_the_program_by_its_name():
    found = snippets("j <= i and i - j < 2", 5, 7, 3, 3, device="cuda:0", dtype=torch.float64)
    for code in found.values():
        compile(code, "program", "exec")
        assert code.count('.to("cuda:0", torch.float64)') == 3
        assert ('device="cuda:0"' in code) == ("may_attend" in code)
    with pytest.raises(RuntimeError):
        snippets("j <= i", 5, 7, 3, 3, device='cpu")\nimport os')
