"""Translation scores against sacreBLEU and Moses, which we did not write."""

import pytest

from hybonet.metrics.bleu import translation_scores, without_rules

sacrebleu = pytest.importorskip("sacrebleu")
REFERENCES = ["Der Hund schläft, z.B. hier.", 'Zwei Männer sehen den "alten" Baum.', "Eine Frau liest ein Buch."]
HYPOTHESES = ["Der Hund schläft z.B. dort.", "Zwei Männer sehen den alten Baum.", "eine Frau liest ein Buch."]


def test_plain_scores_are_sacrebleus():
    scores = translation_scores(HYPOTHESES, REFERENCES, language="de")
    assert scores["bleu"] == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score
    assert scores["chrf"] == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    assert "tok:13a" in scores["signatures"]["bleu"]
    assert "case:mixed" in scores["signatures"]["bleu"]


def test_the_papers_convention_is_lowercase_moses_tokens():
    moses = pytest.importorskip("sacremoses").MosesTokenizer(lang="de")
    cut = [
        [moses.tokenize(line.lower(), return_str=True, escape=False) for line in side]
        for side in (HYPOTHESES, REFERENCES)
    ]
    expected = sacrebleu.corpus_bleu(cut[0], [cut[1]], tokenize="none", force=True).score
    scores = translation_scores(HYPOTHESES, REFERENCES, language="de")
    assert scores["tokenized_bleu"] == pytest.approx(expected)
    assert scores["tokenized_bleu"] > scores["bleu"]  # one sentence differs in a capital alone
    assert scores["signatures"]["tokenized_bleu"].endswith("text:moses-de")


def test_tokenised_text_is_put_together_for_the_plain_scores():
    cut = ['i &apos;ll see the dog &apos;s house , " here " .']
    scores = translation_scores(cut, cut, language="en", tokenized=True)
    assert scores["bleu"] == pytest.approx(100)
    other = translation_scores(['i will see the dog &apos;s house , " here " .'], cut, language="en", tokenized=True)
    plain = sacrebleu.corpus_bleu(['i will see the dog\'s house, "here".'], [["i'll see the dog's house, \"here\"."]])
    assert other["bleu"] == pytest.approx(plain.score)


def test_tokenised_text_says_so_in_the_signatures():
    signatures = translation_scores(["a b ."], ["a b ."], language="en", tokenized=True)["signatures"]
    assert signatures["bleu"].endswith("|text:detokenised-en")
    assert signatures["chrf"].endswith("|text:detokenised-en")


def test_languages_without_spaces_are_cut_as_sacrebleu_does_it(monkeypatch):
    hypothesis, reference = ["他在看一本旧书。"], ["他在读一本旧书。"]
    scores = translation_scores(hypothesis, reference, language="zh")
    assert scores["bleu"] == sacrebleu.BLEU(trg_lang="zh").corpus_score(hypothesis, [reference]).score > 30
    monkeypatch.setattr("hybonet.metrics.bleu.find_spec", lambda name: None)
    assert "tok:char" in translation_scores(hypothesis, reference, language="ja")["signatures"]["bleu"]
    assert without_rules("zh") == ["Moses does not cut 'zh' into words: of the scores, look at BLEU and chrF alone"]


def test_a_language_that_moses_does_not_know_has_english_rules():
    assert translation_scores(["Wauka."], ["Wauka."], language="toy")["signatures"]["tokenized_bleu"].endswith(
        "moses-en"
    )


def test_missing_translations_are_an_error():
    with pytest.raises(ValueError, match="got 2 for 3"):
        translation_scores(HYPOTHESES[:2], REFERENCES, language="de")
