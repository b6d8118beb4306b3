"""The package as others install it: the maths with PyTorch alone, from any folder."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def pins(file: str) -> dict[str, str]:
    lines = (ROOT / file).read_text("utf-8").splitlines()
    found = (re.fullmatch(r"([\w.-]+)==(\S+)", line.partition(" #")[0].strip()) for line in lines)
    return {pin[1].lower(): pin[2] for pin in found if pin}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `pip install .` would install."""
    folder = tmp_path_factory.mktemp("wheel")
    build = "from hatchling.build import build_wheel; import sys; print(build_wheel(sys.argv[1]))"
    command = [sys.executable, "-c", build, str(folder)]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return folder / printed.stdout.split()[-1]


def test_the_maths_runs_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    ZipFile(wheel).extractall(site)
    code = (
        f"import sys; sys.path.insert(0, {str(site)!r}); import attention_core, torch;"
        "q, k, v = attention_core.sample_qkv(2, 5, 8);"
        "print(attention_core.__file__, attention_core.compare_with_torch(q, k, v).agrees)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.split()
    assert printed == [str(site / "attention_core" / "__init__.py"), "True"]


def test_the_wheel_holds_the_package_and_its_files_and_nothing_else(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {
        "attention_core",
        f"attention_core-{PROJECT['version']}.dist-info",
    }
    tracked = subprocess.run(
        ["git", "ls-files", "attention_core"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(tracked) <= set(names)
    assert "attention_core/py.typed" in names


def test_torch_is_all_that_the_maths_asks_for_and_the_extra_is_the_one_list() -> None:
    assert [re.split(r"\W", line)[0] for line in PROJECT["dependencies"]] == ["torch"]
    extra = dict(line.split("==") for line in PROJECT["optional-dependencies"]["dashboard"])
    assert extra == {name: pin for name, pin in pins("requirements.txt").items() if name != "torch"}


def test_what_is_pinned_twice_is_pinned_alike() -> None:
    constraints = {name.replace("_", "-"): pin for name, pin in pins("constraints.txt").items()}
    for file in ("requirements.txt", "requirements-dev.txt"):
        for name, pin in pins(file).items():
            assert constraints[name.replace("_", "-")] == pin, name
    text = (ROOT / "constraints.txt").read_text("utf-8")
    assert "://" not in text and " @ " not in text  # versions only, from wherever they come


@pytest.mark.parametrize(
    "file", [*sorted(ROOT.glob(".github/**/*.yml")), ROOT / ".pre-commit-config.yaml"], ids=str
)
def test_what_the_hosting_site_reads_is_well_formed(file: Path) -> None:
    assert isinstance(yaml.safe_load(file.read_text("utf-8")), dict)


def test_the_workflow_runs_what_ci_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
    job = workflow["jobs"]["test"]
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.13"]
    assert "bash .ci/run" in [step.get("run", "") for step in job["steps"]]
