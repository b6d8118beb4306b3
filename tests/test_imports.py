"""The direction of imports: pages -> attention_core.dashboard -> attention_core -> torch."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
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


# --- the rooms

SHARED = {"charts", "controls", "questions", "progress", "export", "panels"}
OF_PAGES = {path.parent.name for path in DASHBOARD.glob("*/__init__.py")} - SHARED


def room_of(module: str) -> str:
    """The package of the screen half that a module is in, "" for what stands beside them."""
    parts = module.split(".")
    inside = parts[:2] == ["attention_core", "dashboard"] and len(parts) > 2
    return parts[2] if inside and parts[2] in SHARED | OF_PAGES else ""


def modules() -> dict[str, Path]:
    """Every module of the library by its full name."""
    found = {}
    for path in (ROOT / "attention_core").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if path.name == "__init__.py" else parts)] = path
    return found


def needs(known: dict[str, Path]) -> dict[str, set[str]]:
    """Which modules of the library each of them imports."""
    return {name: imports_of(path) & set(known) for name, path in known.items()}


def unit_of(module: str) -> str:
    """What a circle is looked for between: packages, and modules that are in none."""
    parts = module.split(".")
    if parts[:2] == ["attention_core", "dashboard"]:
        return room_of(module) or ".".join(parts[1:])
    package = (ROOT / "attention_core" / parts[1]).is_dir() if len(parts) > 1 else False
    return parts[1] if package else module


def test_every_page_has_its_room() -> None:
    rooms = {path.stem.partition("_")[2] for path in ROOT.glob("pages/*.py")} | {"overview"}
    assert rooms == OF_PAGES


def test_no_page_room_imports_another_and_no_shared_room_imports_a_page_room() -> None:
    for name, imports in needs(modules()).items():
        for other in imports:
            if room_of(other) in OF_PAGES:
                assert room_of(name) == room_of(other), f"{name} imports {other}"


def test_a_page_imports_its_own_room_only() -> None:
    for page in PAGES:
        own = page.stem.partition("_")[2] if page.parent.name == "pages" else "overview"
        rooms = {room_of(name) for name in imports_of(page)} & OF_PAGES
        assert rooms <= {own}, f"{page.name} imports from {rooms}"


def test_there_is_no_circle_between_packages() -> None:
    graph: dict[str, set[str]] = {}
    for name, imports in needs(modules()).items():
        package = unit_of(name)
        passes_on = name in ("attention_core", "attention_core.dashboard")
        others = set() if passes_on else {unit_of(other) for other in imports}
        roots_only = {"attention_core", "dashboard"}  # named by every import below them
        graph.setdefault(package, set()).update(others - {package} - roots_only)
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_no_module_spells_the_key_of_another() -> None:
    """Keys of controls and of the session; the catalogue names the questions by theirs."""
    prefixes = ("qkv_", "ret_", "mask_", "ex_", "work_", "lab_", "own_", "overview_", "link_")
    spelled: dict[str, list[str]] = {}
    for path in [*DASHBOARD.rglob("*.py"), *PAGES]:
        if path.name != "catalogue.py":
            nodes = ast.walk(ast.parse(path.read_text("utf-8")))
            texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
            for text in texts:
                if isinstance(text, str) and text.startswith(prefixes) and not text.endswith("_"):
                    spelled.setdefault(text, []).append(path.name)
    assert {key: where for key, where in spelled.items() if len(where) > 1} == {}
