"""The page for judges, in a browser: answers by key, mouse and touch, kept and handed in."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcglearn import InputWarning, learn_dcg, read_preferences
from dcglearn.asking.questions import PairQuestion
from helpers.asked import asked_by, drawn_questions, written_texts
from helpers.browser import FAULTS, Browser, Tab, open_browser
from helpers.written import write, write_records

BUTTONS = {"ArrowLeft": "a", "ArrowRight": "b", "g": "good", "b": "bad", "s": "skip"}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def browser(opened: Browser) -> Iterator[Browser]:
    """Give all tests one browser: each has questions or judges of its own, which it keeps."""
    opened.events.clear()
    yield opened
    assert not [one for one in opened.events if one["method"] in FAULTS]


def start(tab: Tab, name: str = "") -> None:
    if name:
        tab.run("document.querySelector('#name').value = ''")
        tab.type(name)
    tab.press("Enter")


def shown_grades(tab: Tab) -> tuple[list[int], list[int]]:
    """Return the grades that are shown in place of texts, on the left and on the right."""
    items = "[...document.querySelectorAll('#{} li')].map(one => +one.innerText.slice(6))"
    left, right = (tab.run(items.format(side)) for side in ("left", "right"))
    return left, right


def best(left: list[int], right: list[int]) -> str:
    """Return the key of a judge who follows a DCG."""
    lead = sum((a - b) / (rank + 1) for rank, (a, b) in enumerate(zip(left, right, strict=True)))
    return "ArrowLeft" if lead > 0.3 else "ArrowRight" if lead < -0.3 else "g"


def answered(tab: Tab) -> list[dict[str, object]]:
    """Hand in, and return the answers of the page."""
    if tab.run("document.querySelector('#end').hidden"):
        tab.click("#finish")
    return [json.loads(line) for line in tab.run("byId('lines').value").splitlines()]


def test_two_judges_answer_and_their_answers_are_fitted(tmp_path: Path, browser: Browser) -> None:
    questions = drawn_questions(30)
    asked_by(tmp_path, questions, judges="ann,bob", overlap=1 / 3)
    seen = list[tuple[list[int], list[int], str]]()
    tab = Tab(browser, tmp_path / "page-ann.html")
    start(tab)
    for _ in range(8):
        seen.append((*shown_grades(tab), key := best(*shown_grades(tab))))
        tab.press(key)
    seen.append((*shown_grades(tab), "s"))
    tab.press("b")
    tab.press("u")
    tab.press("s")
    assert tab.text("#where") == "Question 10 of 20"
    for _ in range(10):  # until the browser has passed on what the closed tab had kept
        tab.close()
        tab = Tab(browser, tmp_path / "page-ann.html")
        start(tab)
        if tab.text("#where") == "Question 10 of 20":
            break
    assert tab.text("#where") == "Question 10 of 20"
    tab.click("#comment")
    tab.type("gbs, a comment")
    for _ in range(11):
        seen.append((*shown_grades(tab), key := best(*shown_grades(tab))))
        tab.click(f".answers [value={BUTTONS[key]}]")
    assert tab.text("#end-title") == "All questions are answered. Thank you!"
    folder = {"behavior": "allow", "downloadPath": str(tmp_path), "eventsEnabled": True}
    browser.send("Browser.setDownloadBehavior", **folder)
    tab.click("#download")
    tab.wait("byId('sent').textContent")
    other = Tab(browser, tmp_path / "page-bob.html", width=400)
    start(other)
    for _ in range(20):
        key = best(*shown_grades(other))
        other.click(f".answers [value={BUTTONS[key]}]", touch=True)
        other.wait("byId('where').textContent")
    write_records(tmp_path / "bob.jsonl", *answered(other))
    downloaded = tmp_path / f"answers-{questions[0].id.split('-')[0]}-ann.jsonl"
    other.wait_for(downloaded.exists)
    lines = [json.loads(line) for line in downloaded.read_text("utf-8").splitlines()]
    assert [(one["a"], one["b"], one["answer"]) for one in lines] == [
        (left, right, BUTTONS[key]) for left, right, key in seen
    ], "list a is the one on the left"
    assert [one["turn"] for one in lines] == [*range(1, 21)]
    assert [one.get("comment") for one in lines if "comment" in one] == ["gbs, a comment"]
    assert all(one["judge"] == "ann" and one["seconds"] >= 0 for one in lines)
    with pytest.warns(InputWarning) as notes:
        data = read_preferences([downloaded, tmp_path / "bob.jsonl"], strict=True)
    assert [str(one.message) for one in notes] == ["judgments left out for their answers: 1"]
    assert (len(data), {*data.judges}) == (39, {"ann", "bob"})
    lists = {one.id: [list(one.a), list(one.b)] for one in questions}
    for one in lines:
        given = lists[one["question"]]
        assert [one["a"], one["b"]] == (given[::-1] if one["reversed"] else given)
    assert 3 < sum(one["reversed"] for one in lines) < 17
    assert list(learn_dcg(data).dcg.gains) == sorted(learn_dcg(data).dcg.gains, reverse=True)


def test_each_judge_has_an_order_and_sides_of_their_own(tmp_path: Path, browser: Browser) -> None:
    page = asked_by(tmp_path, drawn_questions(20))
    orders = []
    for name in ("ann", "bob", "ann"):
        tab = Tab(browser, page)
        start(tab, name)
        for _ in range(20):
            tab.press("g")
        orders.append([(one["question"], one["reversed"]) for one in answered(tab)])
        if name == "ann" and len(orders) == 1:
            tab.run("localStorage.clear()")
        tab.close()
    assert orders[0] == orders[2]
    assert dict(orders[0]) != dict(orders[1]), "sides differ"
    assert [one for one, _ in orders[0]] != [one for one, _ in orders[1]]


SCRIPT = "<script>pwned = 1</script><img src=x onerror='pwned = 1'></script>"


def test_texts_of_others_are_only_text(tmp_path: Path, browser: Browser) -> None:
    bad = {"title": f"{SCRIPT} title", "text": f"{SCRIPT} text", "url": "javascript:pwned=1"}
    ids = (f"{SCRIPT} id",)
    question = PairQuestion(f"{SCRIPT}-1", f"{SCRIPT} query", ("</script>",), ("b",), ids, ("d2",))
    texts = [{"id": ids[0], **bad}, {"id": "d2", "title": "Two", "url": "https://x.org/?a=1&b"}]
    documents = write_records(tmp_path / "docs.jsonl", *texts)
    words = f"{SCRIPT} *read* [on](https://x.org) [or](javascript:pwned=1) ![p](https://x.org)"
    instruction = write(tmp_path / "instruction.md", words)
    options = {"documents": str(documents), "instruction": str(instruction)}
    page = asked_by(tmp_path, [question], **options)
    tab = Tab(browser, page)
    assert tab.text("#start").count(SCRIPT) == 1
    assert tab.run("document.querySelectorAll('#start :is(img, script, em)').length") == 1
    links = "[...document.querySelectorAll('{} a')].map(one => [one.href, one.rel, one.target])"
    safe = ["noopener noreferrer", "_blank"]
    assert tab.run(links.format("#start")) == [["https://x.org/", *safe]] * 2, "or a picture"
    start(tab, f"{SCRIPT} ann")
    assert tab.text("#query") == f"{SCRIPT} query"
    shown = tab.text(".lists")
    assert f"{SCRIPT} title" in shown
    assert f"{SCRIPT} text" in shown
    assert tab.run(links.format(".lists")) == [["https://x.org/?a=1&b", *safe]]
    tab.press("g")
    assert tab.text("#summary").startswith(f"{SCRIPT} ann: 1 of 1")
    assert answered(tab)[0]["judge"] == f"{SCRIPT} ann"
    assert tab.run("[typeof pwned, document.scripts.length]") == ["undefined", 2]
    fetched = "performance.getEntriesByType('resource').length"
    assert tab.run(fetched) == 0
    assert "default-src 'none'" in page.read_text("utf-8")


def test_a_browser_that_keeps_nothing_says_so(tmp_path: Path, browser: Browser) -> None:
    full = "Storage.prototype.setItem = () => { throw new DOMException('full'); }"
    tab = Tab(browser, asked_by(tmp_path, drawn_questions(3)), before=full)
    start(tab, "ann")
    assert "does not keep your answers" in tab.text("#unkept")
    tab.press("g")
    tab.press("ArrowLeft")
    assert [one["answer"] for one in answered(tab)] == ["good", "a"]


def test_a_key_that_is_held_answers_once(tmp_path: Path, browser: Browser) -> None:
    tab = Tab(browser, asked_by(tmp_path, drawn_questions(5)))
    start(tab, "ann")
    for held in (False, True, True):
        key = {"type": "keyDown", "key": "g", "text": "g", "autoRepeat": held}
        tab.send("Input.dispatchKeyEvent", **key)
    assert tab.text("#where") == "Question 2 of 5"


def test_a_page_that_is_open_twice_loses_nothing(tmp_path: Path, browser: Browser) -> None:
    asked_by(tmp_path, drawn_questions(6), "p.html", judges="ann")
    one, other = (Tab(browser, tmp_path / "p-ann.html") for _ in range(2))
    start(one)
    start(other)
    one.press("g")
    other.wait("byId('where').textContent === 'Question 2 of 6'")
    other.press("b")
    one.wait("byId('where').textContent === 'Question 3 of 6'")
    assert [each["answer"] for each in answered(one)] == ["good", "bad"]


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1280, True)])
def test_a_page_can_be_read_by_everybody(
    tmp_path: Path, browser: Browser, width: int, dark: bool
) -> None:
    """The path of axe-core's file axe.min.js is in DCGLEARN_AXE."""
    questions = drawn_questions(5, documents=True)
    page = asked_by(tmp_path, questions, **written_texts(tmp_path, questions))
    axe = os.environ.get("DCGLEARN_AXE")
    tab = Tab(browser, page, width, dark)
    violated = "axe.run().then(found => found.violations.map(one => one.id))"
    for step in ("start", "question", "end"):
        if step == "question":
            start(tab, f"ann {width}")
            tab.run("document.querySelector('details').open = true")
        if step == "end":
            tab.press("g")
            tab.click("#finish")
        assert not tab.run(f"byId('{step}').hidden")
        assert not tab.run("document.documentElement.scrollWidth > innerWidth")
        if axe is not None:
            tab.run(f"{Path(axe).read_text('utf-8')}; 0")
            assert tab.run(violated) == []
