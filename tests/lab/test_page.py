"""The page of results, as a file and in a browser, and the commands that make it."""

from __future__ import annotations

import json
import os
import re
import shutil
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path

import pytest

from dcglearn.lab.config import CELL_VERSION
from dcglearn.lab.provenance import read_provenance, write_provenance
from dcglearn.lab.results import CELLS_FILE
from helpers.browser import FAULTS, Tab, open_browser
from helpers.commands import Run, run_command
from helpers.own_functions import FLIPS as CONFIG
from helpers.places import ROOT
from helpers.written import write

STORE = f"results/{CELLS_FILE}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one config of its own, under the name of a shipped one."""
    return with_config(tmp_path)


def with_config(folder: Path) -> Path:
    write(folder / "configs/flips.toml", CONFIG)
    return folder


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Such a folder in which the config has run, and what the command printed."""
    place = with_config(tmp_path_factory.mktemp("finished"))
    done = run_command(["run", "configs/flips.toml"], place, dict(os.environ))
    assert done.returncode == 0, done.stderr
    return place, done.stdout


@pytest.fixture
def finished(first_run: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of that folder."""
    shutil.copytree(first_run[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_what_a_killed_run_left_behind_is_removed(run: Run, finished: Path) -> None:
    """Files that it had begun to write, unless another run may be writing them."""
    old, new, other = (
        finished / "results/flips" / name
        for name in (".figure-05-0123456789ab.pdf", ".figure-05-ba9876543210.pdf", ".own-note.txt")
    )
    for path in (old, new, other):
        path.touch()
    os.utime(old, (0, 0))
    os.utime(other, (0, 0))
    assert run("run", "configs/flips.toml").returncode == 0
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


def test_run_leaves_a_table_figures_and_provenance(
    run: Run, finished: Path, first_run: tuple[Path, str]
) -> None:
    assert "flips: 8 of 8 cells: 0 kept, 8 new\n" in first_run[1]
    assert "figure 5: undecided\nfigure 6: undecided\n" in first_run[1]
    out = finished / "results" / "flips"
    names = {path.name for path in out.iterdir()}
    figures = {f"figure-0{n}.{ending}" for n in (5, 6) for ending in ("csv", "svg", "pdf", "png")}
    assert names == {"table.csv", "provenance.json"} | figures
    rows = (out / "table.csv").read_text().splitlines()
    assert rows[0] == "truth,flips,repetition,precision,similarity,identifiable,chosen_C"
    assert len(rows) == 9
    made = json.loads((out / "provenance.json").read_text())
    counts = {"version": CELL_VERSION, "done": 8, "failed": 0, "total": 8, "quick": False}
    assert made["cells"] == counts
    assert made["experiment"]["seed"] == 5
    assert made["versions"]["numpy"] == version("numpy")
    before = contents(out)
    assert run("run", "configs/flips.toml").returncode == 0
    assert contents(out) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


OTHER_CONFIGS = {
    "seed is 5 there and 6 here": ("seed = 5", "seed = 6"),
    "C is None there and 2.0 here": ("pairs = 20\n", "pairs = 20\nC = 2.0\n"),
    "a larger grid: it also has flips 5": ("[0, 5]", "[0]"),
    "a larger grid: it also has truth 'data-2'": ('"data-2"]', '"zipf"]'),
    "2 repetitions, and the config 1": ("repetitions = 2", "repetitions = 1"),
}


def test_results_of_another_or_a_larger_config_are_replaced_only_on_request(
    run: Run, finished: Path
) -> None:
    table = finished / "results/flips/table.csv"
    before = table.read_bytes()
    for message, (old, new) in OTHER_CONFIGS.items():
        (finished / "configs/flips.toml").write_text(CONFIG.replace(old, new, 1))
        refused = run("run", "configs/flips.toml")
        assert refused.returncode == 2
        assert refused.stderr.count("\n") == 1
        assert message in refused.stderr
        assert "--replace" in refused.stderr
        assert table.read_bytes() == before
    assert run("run", "configs/flips.toml", "--replace").returncode == 0
    assert table.read_bytes() != before
    path = table.with_name("provenance.json")
    made = read_provenance(path.parent)
    made["cells"]["version"] = 0
    write_provenance(made, path)
    refused = run("run", "configs/flips.toml")
    assert refused.returncode == 2
    assert f"version 0 of the cells, and this is version {CELL_VERSION}" in refused.stderr


def test_a_checkout_without_its_store_keeps_its_results(run: Run, finished: Path) -> None:
    """What is missing or was changed is drawn again, to the same bytes; a changed table is not."""
    place = finished / "results/flips"
    before = contents(place)
    (finished / STORE).unlink()
    assert run("report").returncode == 0
    assert contents(place) == before
    assert re.search(r"flips +5, 6 +0 +0 +8 +0 of 2 +8", run("status").stdout)
    assert run("report", "--findings", "f.tex").stdout.endswith("wrote f.tex\n")
    (place / "figure-05.png").write_bytes(b"other")
    (place / "figure-06.csv").unlink()
    assert "it is made again" in run("report").stderr
    assert contents(place) == before
    changed = before["table.csv"].replace(b"data-1,0,0,0", b"data-1,0,0,1", 1)
    (place / "table.csv").write_bytes(changed)
    refused = run("report", "configs/flips.toml")
    assert refused.returncode == 2
    assert "results/flips/table.csv: is not the table that provenance" in refused.stderr
    assert (place / "table.csv").read_bytes() == changed
    assert run("run", "configs/flips.toml").returncode == 0
    assert contents(place) == before


def test_figures_follow_the_experiment_file_and_the_width_without_a_store(
    run: Run, folder: Path
) -> None:
    """One whose points are others is drawn again; the other is left as it is."""
    code = drawing("5", "6")
    write(folder / "experiments/flips.py", code)
    assert run("run", "configs/flips.toml", "--width", "page").returncode == 0
    (folder / STORE).unlink()
    place = folder / "results/flips"
    before = contents(place)
    assert b'width="504pt"' in before["figure-05.svg"]
    other = "Plot('flips', 'half', (curve(table.assign(p=0.5), 'flips', 'p', 'all'),))"
    shown = f'"title", plot if number == "5" else {other}'
    (folder / "experiments/flips.py").write_text(code.replace('"title", plot', shown))
    assert run("report", "configs/flips.toml").returncode == 0
    after = contents(place)
    assert {name for name in after if after[name] != before[name]} == {
        *(f"figure-06.{ending}" for ending in ("csv", "svg", "pdf", "png")),
        "provenance.json",
    }


def test_fewer_cells_of_changed_functions_do_not_replace_more(run: Run, folder: Path) -> None:
    code = drawing("5").replace(
        "COLUMNS =",
        "from dcglearn.lab.decorators import learner\nimport numpy as np\nSIZE = 1.0\n"
        "@learner\ndef mine(pairs, setting, rng):\n"
        "    return SIZE * np.outer(1 / np.arange(1, 11), [4, 3, 2, 1, 0])\n\nCOLUMNS =",
    )
    write(folder / "experiments/mine.py", code)
    text = CONFIG.replace('"flips"\n', '"mine"\n', 1).replace("[5, 6]", "[5]")
    write(folder / "configs/flips.toml", text.replace("pairs = 20", 'pairs = 20\nlearner = "mine"'))
    assert run("run", "configs/flips.toml").returncode == 0
    before = (folder / "results/flips/table.csv").read_bytes()
    write(folder / "experiments/mine.py", code.replace("SIZE = 1.0", "SIZE = 2.0"))
    done = run("report", "configs/flips.toml")
    assert "8 cells of functions that have changed since" in done.stderr
    assert (folder / "results/flips/table.csv").read_bytes() == before
    assert "8 of 8 cells: 0 kept, 8 new" in run("run", "configs/flips.toml").stdout


HEAD = """
from dcglearn.lab.claims import Claim, Finding
from dcglearn.lab.plots import Figure, curve, Plot
from dcglearn.lab.repetitions import MeanInterval

COLUMNS = ("precision",)
ODD = "# <img src=x onerror=1> a|b `c` \\\\input{x} **d** [e](f)"


def figures(table):
    plot = Plot("flips", "precision", (curve(table, "flips", "precision", ODD),))
"""
"""An experiment file without what it returns."""

ODD_FIGURES = f"""{HEAD}
    finding = Finding("holds", (MeanInterval(ODD, 0.5, 0.4, 0.6, 9),), ODD)
    return [Figure("9", ODD, plot, (Claim(ODD, finding),), ODD)]
"""


def drawing(*numbers: str) -> str:
    """Return an experiment file that draws figures of these numbers."""
    return f'{HEAD}    return [Figure(number, "title", plot, ()) for number in {numbers}]\n'


def test_a_wrong_list_of_figures_is_known_after_two_repetitions(run: Run, folder: Path) -> None:
    wrong = CONFIG.replace("[5, 6]", "[5, 9]").replace("repetitions = 2", "repetitions = 4")
    write(folder / "configs/flips.toml", wrong)
    refused = run("run", "configs/flips.toml")
    assert refused.returncode == 2
    assert "flips.toml, figures: lists figure 9, which" in refused.stderr
    assert "does not list 6: left out" in refused.stderr
    assert (folder / STORE).read_text().count('"key"') == 8


def test_figures_that_need_more_than_one_repetition_are_drawn(run: Run, folder: Path) -> None:
    code = drawing("5").replace(
        "    plot =", "    assert table.repetition.nunique() > 1\n    plot ="
    )
    write(folder / "experiments/flips.py", code)
    write(folder / "configs/flips.toml", CONFIG.replace("[5, 6]", "[5]"))
    done = run("run", "configs/flips.toml")
    assert done.returncode == 0
    assert (folder / "results/flips/figure-05.svg").is_file()


def test_names_and_words_stay_text_on_the_page(run: Run, folder: Path) -> None:
    """The config's name is one of them."""
    write(folder / "experiments/odd.py", ODD_FIGURES)
    odd = "a|b `c` <img src=x> (d).toml"
    (folder / "configs" / "flips.toml").unlink()
    path = folder / "configs" / odd
    path.write_text(CONFIG.replace('"flips"\n', '"odd"\n', 1).replace("[5, 6]", "[9]"))
    done = run("run", f"configs/{odd}")
    assert done.returncode == 0, done.stderr
    assert run("report", f"configs/{odd}").returncode == 0
    reader = Tags()
    reader.feed((folder / "results/index.html").read_text("utf-8"))
    words = "# <img src=x onerror=1> a|b `c` \\input{x} **d** [e](f)"
    assert "".join(reader.text).count(words) == 7  # in tables, headings and paragraphs
    assert f"dcglearn run 'configs/{odd}'" in "".join(reader.text)
    sources = [dict(found)["src"] for tag, found in reader.tags if tag == "img"]
    assert len(sources) == 2
    assert all(str(source).endswith("/figure-09.svg") for source in sources)
    assert sum(tag == "h1" for tag, _ in reader.tags) == 1


class Tags(HTMLParser):
    """The tags of a page with their attributes, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_configs_that_cannot_be_read_do_not_stop_the_others(run: Run, folder: Path) -> None:
    (folder / "configs/other.toml").write_text("[tool]\nx = 1\n")
    (folder / "configs/folder.toml").mkdir()
    found = run("status")
    assert found.returncode == 0
    assert "left out: configs/other.toml" in found.stderr
    assert run("reproduce").returncode == 2
    alone = run("status", "configs/flips.toml", "--json")
    assert [row["experiment"] for row in json.loads(alone.stdout)] == ["flips"]


def test_only_some_experiments_are_run(run: Run, folder: Path) -> None:
    done = run("run", "configs/flips.toml", "--workers", "1", "--quick", "--out", "there")
    assert "2 of 2 cells" in done.stdout
    assert (folder / "there/quick/flips/table.csv").exists()
    done = run("reproduce", "--only", "5, 6", "--workers", "1", "--out", "there")
    assert done.returncode == 0, done.stderr
    assert "8 of 8 cells: 2 kept, 6 new" in done.stdout
    made = {path.name for path in (folder / "there").iterdir() if path.is_dir()}
    assert made == {"flips", "store", "quick"}


def test_experiments_share_cells_and_workers(run: Run, folder: Path) -> None:
    """The same bytes with one process and with two, and each cell is computed once."""
    other = CONFIG.replace("flips = [", "wrong_grades = [").replace("[5, 6]", "[7, 8]")
    write(folder / "configs/wrong_grades.toml", other)
    for workers in ("1", "2"):
        done = run("reproduce", "--workers", workers, "--out", workers)
        counts = "8 of 8 cells: 0 kept, 8 new\nwrong_grades: 8 of 8 cells: 4 kept, 4 new\n"
        assert counts in done.stdout, done.stderr
        assert (folder / workers / CELLS_FILE).read_text().count('"key"') == 12
    for name in ("flips", "wrong_grades"):
        one, two = (contents(folder / workers / name) for workers in ("1", "2"))
        assert one == two
        assert len(one) == 10


def test_a_folder_of_own_configs_has_those_and_the_shipped_ones_when_asked(
    run: Run, folder: Path
) -> None:
    (folder / "configs/flips.toml").rename(folder / "configs/mine.toml")
    (folder / "configs/mine.toml").write_text(CONFIG.replace("5, 6", '"T5", "T6"'))
    write(folder / "experiments/flips.py", drawing("T5", "T6"))
    statuses = (run("status", "--json", *asked).stdout for asked in ((), ("--shipped",)))
    names = [[row["experiment"] for row in json.loads(status)] for status in statuses]
    assert names[0] == ["mine"]
    assert {"mine", "flips", "pairs"} <= set(names[1])
    done = run("reproduce")
    assert done.returncode == 0, done.stderr
    assert "mine: 8 of 8 cells: 0 kept, 8 new" in done.stdout
    assert done.stdout.count(" cells: ") == 1
    refused = run("reproduce", "--only", "pairs")
    assert refused.returncode == 2
    assert "Known: T5, T6, mine" in refused.stderr


def test_the_docs_add_an_experiment_in_under_40_lines(run: Run, tmp_path: Path) -> None:
    """Follow the text exactly, in an empty folder."""
    text = (ROOT / "docs" / "experiments.md").read_text("utf-8")
    text = text.split("## A new experiment")[1].split("\n## ")[0]
    blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```", text, re.M | re.S))
    places = re.findall(r"`((?:configs|experiments)/\w+\.(?:toml|py))`", text)
    files = dict(zip(places, (blocks["toml"], blocks["python"]), strict=True))
    assert sum(content.count("\n") for content in files.values()) < 40
    for name, content in files.items():
        write(tmp_path / name, content)
    program, *arguments = blocks["console"].removeprefix("$ ").split()
    assert program == "dcglearn"
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    assert "shown_first: 16 of 16 cells" in done.stdout
    assert "figure P1: holds" in done.stdout
    assert run("report", "--quick").returncode == 0
    page = (tmp_path / "results/quick/index.html").read_text("utf-8")
    assert "Precision under position bias" in page


@pytest.fixture(scope="module")
def partial(first_run: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an unfinished run, and of an experiment that was not run."""
    place = tmp_path_factory.mktemp("partial")
    shutil.copytree(first_run[0], place, dirs_exist_ok=True)
    larger = CONFIG.replace("[0, 5]", "[0, 3, 5, 7]")
    (place / "configs/flips.toml").write_text(larger)
    shutil.copy(ROOT / "configs/sorted.toml", place / "configs")
    done = run_command(["report"], place, dict(os.environ))
    assert done.returncode == 0, done.stderr
    return place / "results/index.html"


def test_the_page_fetches_only_its_pictures_and_says_what_is_missing(partial: Path) -> None:
    text = partial.read_text("utf-8")
    page = Tags()
    page.feed(text)
    found = [dict(attributes) for _, attributes in page.tags]
    ids = {one["id"] for one in found if "id" in one}
    assert len(ids) == 2
    assert not any(tag in ("script", "iframe") for tag, _ in page.tags)
    for one in found:
        target = one.get("src") or one.get("href") or "data:"
        if target.startswith("#"):
            assert target[1:] in ids
        elif not target.startswith("data:"):
            assert (partial.parent / target).is_file()
    pictures = [one for one in found if "src" in one]
    assert len(pictures) == 4  # two in the gallery, and in their places
    assert all(one["alt"] for one in pictures)
    assert "Not here:</strong> sorted (figures 9)" in text
    assert "Unfinished:</strong> flips has 8 of 16 cells" in text


def test_a_browser_shows_every_figure(partial: Path, tmp_path: Path) -> None:
    with open_browser(tmp_path / "profile") as browser:
        tab = Tab(browser, partial, width=500)
        wide = "[...document.images].map(one => one.complete && one.naturalWidth > 100)"
        assert tab.run(wide) == [True] * 4
        assert not tab.run("document.documentElement.scrollWidth > window.innerWidth")
        assert not [one for one in browser.events if one["method"] in FAULTS]


def test_the_page_keeps_experiments_that_are_not_named(run: Run, finished: Path) -> None:
    write(finished / "experiments/other.py", drawing("7"))
    other = CONFIG.replace('"flips"\n', '"other"\n', 1).replace("[5, 6]", "[7]")
    write(finished / "configs/other.toml", other)
    assert run("run", "configs/other.toml").returncode == 0
    assert run("report", "configs/other.toml").returncode == 0
    page = (finished / "results/index.html").read_text("utf-8")
    assert all(f"figure-0{number}" in page for number in (5, 6, 7))
