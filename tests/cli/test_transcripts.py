"""What commands say, word for word: run ``tests/golden/make_transcripts.py`` after a change."""

from __future__ import annotations

from golden.make_transcripts import FOLDER, transcripts


def test_commands_say_what_the_transcripts_hold() -> None:
    found = transcripts()
    assert {path.stem for path in FOLDER.iterdir()} == set(found)
    for name, text in found.items():
        assert text == (FOLDER / f"{name}.txt").read_text(encoding="utf-8"), name
