"""Words that only make a sentence a question.

BM25 takes a rare word for a telling one, and "what" or "який" is rare in most folders: answers seldom ask.
"""

from __future__ import annotations

import re

# A search for "where clause" or "is null" means its words; from this many on, a question is being asked.
_SHORTEST_QUESTION = 4

_WORD = re.compile(r"[^\W\d_]+(?:['’ʼ][^\W\d_]+)*")

_ASKING_WORDS = """
what which who whom whose why when where how what's who's where's how's
що як який яка яке які якого якої яких якою яким якому якими хто кого кому чому чим чого
коли де куди звідки скільки чи навіщо
что как какой какая какое какие какого какой каких каким какому какими какую который кто чему чем чего
когда где куда откуда сколько ли почему зачем
was wie welche welcher welches welchen welchem wer wen wem wessen warum weshalb wann wo wohin woher
qué cómo cuál cuáles quién quiénes cuándo dónde cuánto cuánta cuántos cuántas
quoi quel quelle quels quelles qui comment pourquoi quand où combien
"""
_HELPING_WORDS = """
is are was were be been do does did can could should would will have has had i we you my your
є був була було були был была было были
ist sind war waren hat haben wird werden kann können es son fue est sont
"""
_JOINING_WORDS = """
and or the an of to in on at by for from with as it its our he she they this that these those not no
та або але на із зі до від за по про для при над під без між ми ви він вона вони це цей ця ці не
и или но на со до от за по об для при над под без между мы вы он она они это этот эта эти не
und oder der die das ein eine mit von für auf im in zu nicht el la los las un una de del con por para en
"""
_ASKING = frozenset(_ASKING_WORDS.split())
_HELPING = frozenset(_HELPING_WORDS.split())
_SMALL = _ASKING | _HELPING | frozenset(_JOINING_WORDS.split())


def telling_part(text: str) -> str:
    """A question without the words that only make it one; any other text as it is.

    A text is taken for a question when it has four words or more and begins with an asking word or ends in a
    question mark. Words in quotes or backticks stay, and so does everything where nothing else would be left.
    """
    words = [match[0].casefold() for match in _WORD.finditer(text)]
    if len(words) < _SHORTEST_QUESTION or not (words[0] in _ASKING or text.rstrip().endswith(("?", "？"))):
        return text
    if not any(word not in _ASKING and word not in _HELPING for word in words):
        return text
    return "".join(part if n % 2 else _WORD.sub(_kept, part) for n, part in enumerate(_quoted(text)))


def small_words(text: str) -> str:
    """The words of a text that say nothing of its subject by themselves; "" where it has no others.

    A search goes by them all the same: this is for what to bring out in a passage.
    """
    words = [match[0] for match in _WORD.finditer(text)]
    small = [word for word in words if len(word) < 3 or word.casefold() in _SMALL]
    return " ".join(small) if len(small) < len(words) else ""


def _quoted(text: str) -> list[str]:
    """The text in parts, every second of them in quotes."""
    return re.split(r"(`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»)", text)


def _kept(match: re.Match[str]) -> str:
    word = match[0].casefold()
    return "" if word in _ASKING or word in _HELPING else match[0]
