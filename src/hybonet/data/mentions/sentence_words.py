"""A mention in a sentence as people write it, cut into words."""

from __future__ import annotations

import re

from hybonet.data.mentions.mention_data import Mention

#: Words with inner hyphens, points and apostrophes, clitics as in newspaper corpora ('s, n't), and single signs.
_WORD = re.compile(r"n't\b|'(?:s|re|ve|ll|d|m)\b|\w+?(?=n't\b)|\w+(?:[-.,]\w+)*|[^\w\s]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


def split_words(text: str) -> tuple[str, ...]:
    """The words and signs of a text.

    Example:
        >>> split_words("Ada's engine wasn't built, said Mr. Babbage.")
        ('Ada', "'s", 'engine', 'was', "n't", 'built', ',', 'said', 'Mr', '.', 'Babbage', '.')
    """
    return tuple(_WORD.findall(text))


def mention_in(sentence: str, mention: str | None = None) -> Mention:
    """The mention of a sentence, given as text that occurs in it once, or in brackets.

    Example:
        >>> mention_in("The [city council] met today.").sentence
        'The [city council] met today .'
    """
    if mention is None:
        marked = list(_BRACKETS.finditer(sentence))
        if len(marked) != 1 or not split_words(marked[0][1]):
            raise ValueError(
                f"expected one mention in brackets, as in 'The [mayor] spoke.', got {sentence!r:.60}; put brackets "
                "around it, or give it with --mention"
            )
        begin, end, span = marked[0].start(), marked[0].end(), marked[0][1]
    else:
        span = mention.strip()
        if not split_words(span):
            raise ValueError(
                f"expected a mention with at least one word, got {mention!r}; give some words of the sentence"
            )
        found = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(span)}(?!\w)", sentence)]
        if len(found) != 1:
            often = (
                f"found it {len(found)} times; put it in brackets there"
                if found
                else "it is not there; copy it from there, or put it in brackets"
            )
            raise ValueError(
                f"expected the mention {span!r} once in the sentence, {often}: hybonet predict RUN --sentence "
                "'The [mayor] spoke.'"
            )
        begin, end = found[0], found[0] + len(span)
    return Mention(split_words(sentence[:begin]), split_words(span), split_words(sentence[end:]))
