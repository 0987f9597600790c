"""The rooms, who may look at whom, and what every module owes its reader."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import dcglearn

PACKAGE = Path(dcglearn.__file__).parent
ROOMS = {
    name: place
    for place, names in enumerate(
        (
            "base",
            "files",
            "measures",
            "naming",
            "coherence correlation statistics",
            "collection fields",
            "data",
            "records",
            "reading",
            "evaluation",
            "systems",
            "inspection ratings filtering",
            "interop",
            "encoding",
            "solver",
            "families",
            "learning",
            "comparison",
            "inference",
            "hypotheses",
            "streaming",
            "simulation",
            "asking",
            "axes",
            "design",
            "trials",
            "lab",
            "report",
            "system_report",
            "figures",
            "pages",
            "experiments",
            "study",
            "judging",
            "terminal",
            "system_commands",
            "cli",
        )
    )
    for name in names.split()
}
"""Data flows one way: a room imports only from itself and from rooms of a smaller number."""
MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.name not in ("__init__.py", "__main__.py")
)
ONLY_IN = {
    "cvxpy": ["solver/qp.py"],
    "matplotlib": [
        "experiments/experiment.py",  # its types
        "figures/experiment_figures.py",
        "figures/labels.py",
        "figures/measure_figures.py",
        "figures/series.py",
        "figures/style.py",
        "figures/system_figures.py",
        "study/figures.py",
    ],
    "joblib": ["base/workers.py"],
    "distributed": ["base/cluster.py"],
    "jinja2": ["pages/page.py", "study/page.py"],
    "rich": ["base/progress.py"],
}


def imports_of(path: Path) -> set[str]:
    """Every module that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {str(node.module)} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def room_of(name: str) -> str:
    return name.split(".")[1]


def may_import(room: str, other: str) -> bool:
    return room == other or ROOMS[other] < ROOMS[room]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_only_from_its_own_room_or_rooms_above(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0]
    for name in imports_of(path):
        if name.startswith("dcglearn."):
            assert may_import(own, room_of(name)), f"{path.name} looks into {name}"


def test_the_rule_would_be_seen_broken(tmp_path: Path) -> None:
    upward = tmp_path / "upward.py"
    upward.write_text("def f():\n    from dcglearn.comparison.compare import compare\n")
    assert not all(may_import("data", room_of(n)) for n in imports_of(upward))


@pytest.mark.parametrize("library", ONLY_IN)
def test_heavy_libraries_have_one_door(library: str) -> None:
    users = [
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if any(name.split(".")[0] == library for name in imports_of(path))
    ]
    assert users == ONLY_IN[library]


def test_no_module_imports_itself_in_a_circle() -> None:
    graph = {
        "dcglearn." + ".".join(p.relative_to(PACKAGE).with_suffix("").parts): imports_of(p)
        for p in MODULES
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for other in graph[module] & graph.keys():
                visit(other, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def public_objects() -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for path in MODULES:
        name = "dcglearn." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        module = importlib.import_module(name)
        for key, value in vars(module).items():
            if key.startswith("_") or getattr(value, "__module__", "") != name:
                continue
            if inspect.isfunction(value):
                found.append((f"{name}.{key}", value))
            elif inspect.isclass(value):
                found += [
                    (f"{name}.{key}.{method}", function)
                    for method, function in vars(value).items()
                    if inspect.isfunction(function) and not method.startswith("_")
                ]
    return found


@pytest.mark.parametrize(
    ("name", "function"), public_objects(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_docstrings_name_the_parameters_of_the_signature(name: str, function: object) -> None:
    assert callable(function)
    text = inspect.getdoc(function) or ""
    assert text, name
    if "Parameters\n---" not in text:
        return
    section = re.split(r"\n\w+\n-{3,}\n", text.split("Parameters\n")[1].split("---\n", 1)[-1])[0]
    documented = [
        part.strip().lstrip("*")
        for line in section.splitlines()
        if line and not line.startswith(" ") and not line.startswith("-")
        for part in line.split(" :")[0].split(",")
    ]
    signature = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
    assert documented == signature, name


def test_every_exported_name_is_there() -> None:
    for name in dcglearn.__all__:
        assert getattr(dcglearn, name) is not None
    with pytest.raises(AttributeError, match="DGC"):
        dcglearn.DGC  # noqa: B018 - the look-up itself is tested
    assert set(dcglearn.__all__) == set(dir(dcglearn))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.name)
def test_modules_open_with_what_they_are_for(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text("utf-8")))
    assert text
    assert len(path.read_text("utf-8").splitlines()) <= 400


COMMANDS = ("cli/", "system_commands/")
"""A command has the name of the function that it calls."""


def definitions() -> dict[str, list[str]]:
    """Where each public name is defined at the top of a module; commands aside."""
    found: dict[str, list[str]] = {}
    for path in MODULES:
        place = path.relative_to(PACKAGE).as_posix()
        for node in ast.parse(path.read_text("utf-8")).body:
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            names = [getattr(node, "name", None), *(getattr(t, "id", None) for t in targets)]
            for name in names:
                if name and not name.startswith("_") and not place.startswith(COMMANDS):
                    found.setdefault(name, []).append(place)
    return found


def test_one_name_has_one_meaning() -> None:
    twice = {name: places for name, places in definitions().items() if len(places) > 1}
    assert not twice


def test_aliases_of_arrays_are_in_one_place() -> None:
    for path in MODULES:
        aliases = re.findall(r"^(\w+)(?:: TypeAlias)? = NDArray", path.read_text("utf-8"), re.M)
        assert not aliases or path.name == "types.py", f"{path.name}: {aliases}"


@pytest.mark.parametrize("room", sorted({path.parent for path in MODULES}), ids=lambda p: p.name)
def test_a_room_is_not_crowded(room: Path) -> None:
    lines = sum(len(path.read_text("utf-8").splitlines()) for path in room.glob("*.py"))
    assert lines <= 3000


@pytest.mark.parametrize(
    ("name", "function"), public_objects(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_generators_are_the_last_required_argument(name: str, function: object) -> None:
    assert callable(function)
    parameters = inspect.signature(function).parameters
    required = [
        key
        for key, one in parameters.items()
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD
    ]
    required = [
        key for key in required if parameters[key].kind is not inspect.Parameter.VAR_KEYWORD
    ]
    if "rng" in parameters:
        assert required[-1] == "rng", name


SUPPRESSION = re.compile(
    r"# noqa|# type: ignore|# fmt: (skip|off)|# pragma|[.]suppress\(|with suppress\("
    r"|suppress_health[_]check=|(filterwarnings|simplefilter)\(\s*.ignore"
    r"|errstate\(.*=.ignore"
)
SKIPS = {"pytest.skip", "pytest.xfail", "pytest.importorskip"} | {
    f"pytest.mark.{name}" for name in ("skip", "skipif", "xfail")
}


def bare_suppressions(text: str) -> list[str]:
    """Lines that suppress something without a comment that says why."""
    found = [line for line in text.splitlines() if SUPPRESSION.search(line)]
    code = r"# (noqa: [A-Z0-9, ]+|type: ignore(\[[\w, -]+\])?|fmt: (skip|off)|pragma: no cover)"
    return [line for line in found if not re.search(r"( - |# )\S", re.sub(code, "", line))]


def bare_skips(text: str) -> list[str]:
    """Calls that leave a test out, or let it fail, without a text that says why."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return [
        ast.unparse(call)
        for call in calls
        if (name := ast.unparse(call.func)) in SKIPS
        and not any(keyword.arg == "reason" for keyword in call.keywords)
        and not (name in ("pytest.skip", "pytest.xfail") and call.args)
    ]


SOURCES = [
    path
    for folder in ("dcglearn", "scripts", "experiments", "docs", "tests")
    for path in sorted((PACKAGE.parent / folder).rglob("*.py"))
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_suppression_has_its_reason_beside_it(path: Path) -> None:
    assert not bare_suppressions(path.read_text("utf-8"))
    assert not bare_skips(path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("x = 1  # {}: S101", "noqa"),
        ("x = 1  # type: {}", "ignore"),
        ("x = 1  # type: {}[arg-type, misc]", "ignore"),
        ("x = 1  # fmt: {}", "skip"),
        ("{}=[],", "suppress_health_check"),
        ("with {}(KeyError):", "suppress"),
        ("with np.{}(over='ignore'):", "errstate"),
    ],
)
def test_a_bare_suppression_would_be_seen(line: str, word: str) -> None:
    bare = line.format(word)  # in two parts: this file is searched, too
    assert bare_suppressions(bare) == [bare]
    assert not bare_suppressions(f"{bare}  # it may be missing")


def test_a_bare_skip_would_be_seen() -> None:
    for bare in ("pytest.skip()", "pytest.importorskip('torch')", "pytest.mark.skipif(True)"):
        assert bare_skips(bare) == [bare]
    for told in ("pytest.skip('no awk')", "pytest.importorskip('torch', reason='large')"):
        assert not bare_skips(told)
