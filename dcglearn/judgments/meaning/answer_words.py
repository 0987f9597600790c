"""Answers in words that can mean one thing only: ``Left is much better``, ``about the same``."""

from __future__ import annotations

import re

from dcglearn.judgments.meaning.judgment_fields import ANSWERS

_HOW = r"(?:much |far |slightly |somewhat |a bit |a little )?"
_NOUN = "(?:list|liste|side|option|ranking|results?|model|system|assistant|response)"
_BETTER = re.compile(
    r"(?:(?:strongly |slightly |somewhat )?prefer(?:red|s)? )?(?:the )?"
    rf"(?:{_NOUN} )?(a|b|left|right|1|2|links|rechts|gauche|droite)"
    rf"(?: (?:list|side|one|results?))?(?: (?:is |are )?{_HOW}(?:better|preferred|wins))?"
)
_SIDES = dict.fromkeys(("a", "left", "1", "links", "gauche"), "a")
_SIDES |= dict.fromkeys(("b", "right", "2", "rechts", "droite"), "b")
_WORDS = {
    "tie": ("tie", "tied", "draw", "equal", "are equal", "same", "the same", "about the same"),
    "good": ("good", "both good", "equally good"),
    "bad": ("bad", "both bad", "equally bad"),
}
_WORDS["tie"] += ("are the same", "no preference", "no difference", "neutral", "gleich")
_WORDS["tie"] += ("unentschieden", "égal", "égalité", "[[c]]")
_WORDS["good"] += ("tie (both good)", "tie (bothgood)", "bothgood")
_WORDS["bad"] += ("tie (both bad)", "tie (bothbad)", "bothbad")
_MEANINGS = {words: answer for answer, known in _WORDS.items() for words in known}


def answer_in_words(text: str) -> int | None:
    """Return the code of an answer in words, if they can mean one thing only.

    Parameters
    ----------
    text : str
        Capitals, blanks, hyphens and underscores do not count.

    Returns
    -------
    int or None
        Its index in :data:`~dcglearn.judgments.meaning.judgment_fields.ANSWERS`; None if it could mean several
        things, such as *neither*, or nothing.

    Examples
    --------
    >>> [answer_in_words(text) for text in ("Left", "List 2 is better", "no preference", "neither")]
    [0, 1, 2, None]
    >>> [answer_in_words(text) for text in ("model_a", "[[B]]", "tie (bothbad)")]
    [0, 1, 4]
    """
    words = re.sub(r"[\s_-]+", " ", text.casefold()).strip(" .!")
    if words in ("[[a]]", "[[b]]"):  # as language models are asked to answer; [[C]] is a tie
        words = words.strip("[]")
    meaning = _MEANINGS.get(words)
    side = _BETTER.fullmatch(words)
    if meaning is None and side is not None:
        meaning = _SIDES[side[1]]
    return None if meaning is None else ANSWERS.index(meaning)
