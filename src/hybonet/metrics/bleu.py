"""How close translations are to their references: sacreBLEU and chrF with their signatures, and the paper's BLEU."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from hybonet.extras import needed
from hybonet.metrics.bootstrap import RESAMPLES

_SCORES = ("scores of translations", "translation")

#: Languages written without spaces between words, and how sacreBLEU cuts them: with a package's help or by character.
_WITHOUT_SPACES = {
    "zh": ("zh", None),
    "ja": ("ja-mecab", "MeCab"),
    **dict.fromkeys(("km", "lo", "my", "th"), ("char", None)),
}


def translation_scores(
    hypotheses: Sequence[str], references: Sequence[str], *, language: str, tokenized: bool = False
) -> dict[str, Any]:
    """Scores of a corpus, one reference per sentence.

    ``bleu`` and ``chrf`` are sacreBLEU's on plain text and come with the signatures that say how they were made.
    ``interval`` has sacreBLEU's own bounds for ``bleu`` over resampled sentences, 95 % of them.
    Languages without spaces between words are cut as sacreBLEU does it, Japanese by character where MeCab is not
    installed.
    ``tokenized_bleu`` is the convention of the paper: BLEU of lowercased text as Moses tokenises it. It is higher or
    lower than ``bleu`` by a point or two and must not be compared with it.

    Args:
        language: of the translations, for Moses; where it does not know it, English rules apply.
        tokenized: whether the text is Moses-tokenised already: it is then put together for ``bleu`` and ``chrf``, and
            taken as it is for ``tokenized_bleu``.
    """
    if len(hypotheses) != len(references) or not references:
        raise ValueError(
            f"expected a translation for each of one or more references, got {len(hypotheses)} for {len(references)}"
        )
    sacrebleu = needed("sacrebleu", *_SCORES)
    plain = [_detokenised(side, language) if tokenized else list(side) for side in (hypotheses, references)]
    cut = [list(side) if tokenized else _tokenised(side, language) for side in (hypotheses, references)]
    bleu = sacrebleu.BLEU(tokenize=_sacrebleu_tokenizer(language))
    chrf = sacrebleu.CHRF()
    # force: the warning about tokenised text is for those who do not know.
    convention = sacrebleu.BLEU(lowercase=True, tokenize="none", force=True)
    found = bleu.corpus_score(plain[0], [plain[1]], n_bootstrap=RESAMPLES)
    scores: dict[str, Any] = {
        "bleu": found.score,
        "chrf": chrf.corpus_score(plain[0], [plain[1]]).score,
        "tokenized_bleu": convention.corpus_score(cut[0], [cut[1]]).score,
    }
    moses = "given" if tokenized else f"moses-{_moses_language(language)}"
    together = f"|text:detokenised-{_moses_language(language)}" if tokenized else ""
    if len(references) > 1:  # sacreBLEU gives the middle and the half width
        low, high = found._mean - found._ci, found._mean + found._ci
        scores["interval"] = {"bleu": [max(0.0, low), min(100.0, high)]}
    scores["signatures"] = {
        "bleu": f"{bleu.get_signature()}{together}",
        "chrf": f"{chrf.get_signature()}{together}",
        "tokenized_bleu": f"{convention.get_signature()}|text:{moses}",
    }
    return scores


def _tokenised(sentences: Sequence[str], language: str) -> list[str]:
    tokenizer = needed("sacremoses", *_SCORES).MosesTokenizer(lang=_moses_language(language))
    return [tokenizer.tokenize(sentence, return_str=True, escape=False) for sentence in sentences]


def _detokenised(sentences: Sequence[str], language: str) -> list[str]:
    detokenizer = needed("sacremoses", *_SCORES).MosesDetokenizer(lang=_moses_language(language))
    return [detokenizer.detokenize(sentence.split()) for sentence in sentences]


def _sacrebleu_tokenizer(language: str) -> str:
    """How sacreBLEU is to cut plain text of a language."""
    name, package = _WITHOUT_SPACES.get(language, ("13a", None))
    return name if package is None or find_spec(package) else "char"


def without_rules(language: str, *, tokenized: bool = False) -> list[str]:
    """A note if scores of a language rest on the rules of another, or on words that are not written apart.

    Example:
        >>> without_rules("de"), without_rules("qq")
        ([], ["Moses has no rules for 'qq': tokenised BLEU uses those for English"])
        >>> without_rules("qq", tokenized=True)
        ["Moses has no rules for 'qq': text is put together for BLEU and chrF by those for English"]
    """
    if language in _WITHOUT_SPACES and not tokenized:
        return [f"Moses does not cut {language!r} into words: of the scores, look at BLEU and chrF alone"]
    if _moses_language(language) == language:
        return []
    use = "text is put together for BLEU and chrF by" if tokenized else "tokenised BLEU uses"
    return [f"Moses has no rules for {language!r}: {use} those for English"]


def _moses_language(language: str) -> str:
    """The language if Moses has rules for it, else English."""
    known = needed("sacremoses", *_SCORES).corpus.NonbreakingPrefixes().available_langs.values()
    return language if language in known else "en"
