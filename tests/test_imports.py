"""The direction of imports: pages -> attention_core.dashboard -> attention_core -> torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCREEN = {"streamlit", "altair", "pandas"}
DASHBOARD = ROOT / "attention_core" / "dashboard"
PURE = [path for path in ROOT.glob("attention_core/**/*.py") if DASHBOARD not in path.parents]
PAGES = [*ROOT.glob("pages/*.py"), *ROOT.glob("streamlit_app.py")]
FIRST_SCREEN = ROOT / "first_screen.py"
MAY_DRAW = {DASHBOARD, *PAGES, FIRST_SCREEN, ROOT / "tests", ROOT / "benchmarks"}


def others() -> list[Path]:
    """Every file of the project that has no business with the screen."""
    environments = {config.parent for config in ROOT.glob("*/pyvenv.cfg")}
    hidden = set(ROOT.glob(".*"))
    excluded = MAY_DRAW | environments | hidden
    return [path for path in ROOT.rglob("*.py") if not excluded & {path, *path.parents}]


def imported(source: str, package: str = "") -> set[str]:
    """Full names of all that a module of this package imports, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level]
            base = ".".join([*(parents if node.level else []), *filter(None, [node.module])])
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return names


def imports_of(path: Path) -> set[str]:
    return imported(path.read_text("utf-8"), ".".join(path.relative_to(ROOT).parent.parts))


def roots(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def test_the_reader_of_imports_sees_them_all() -> None:
    source = "def f():\n  import altair as alt\nfrom . import dashboard\nfrom .dashboard import x"
    assert imported(source, "attention_core") == {
        "altair",
        "attention_core",
        "attention_core.dashboard",
        "attention_core.dashboard.x",
    }
    assert imported("from ..dashboard import y", "attention_core.a") >= {"attention_core.dashboard"}


def test_the_library_is_found() -> None:
    assert {"attention.py", "basic.py", "decoding.py"} <= {path.name for path in PURE}
    assert set(PURE) <= set(others())
    assert not {Path(__file__), *PAGES} & set(others())


def test_importing_the_library_loads_no_screen() -> None:
    code = "import attention_core, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "attention_core.attention" in loaded
    assert not SCREEN & set(loaded)
    assert not [name for name in loaded if name.startswith("attention_core.dashboard")]


@pytest.mark.parametrize("path", PURE, ids=lambda path: path.name)
def test_the_library_imports_torch_and_the_standard_library_only(path: Path) -> None:
    assert roots(imports_of(path)) <= {"torch", "attention_core", *sys.stdlib_module_names}
    assert not [name for name in imports_of(path) if name.startswith("attention_core.dashboard")]


def test_only_the_screen_half_imports_streamlit_altair_and_pandas() -> None:
    offenders = [path for path in others() if roots(imports_of(path)) & SCREEN]
    assert offenders == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_import_no_pages(path: Path) -> None:
    assert not roots(imports_of(path)) & {"pages", *(page.stem for page in PAGES)}


def test_the_first_screen_imports_nothing_that_takes_its_time() -> None:
    assert roots(imports_of(FIRST_SCREEN)) <= {"streamlit", *sys.stdlib_module_names}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_imports_behind_its_first_screen(path: Path) -> None:
    statements = ast.parse(path.read_text("utf-8")).body
    screen = next(statement for statement in statements if isinstance(statement, ast.With))
    assert ast.unparse(screen.items[0]) == "first_screen()"
    assert roots(imported(ast.unparse(screen))) == {"attention_core"}
    statements.remove(screen)
    outside = roots(imported(ast.unparse(ast.Module(statements, type_ignores=[]))))
    assert outside <= {"streamlit", "first_screen", *sys.stdlib_module_names}
