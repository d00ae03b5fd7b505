"""The decision, fitted over several datasets."""

from __future__ import annotations

import numpy as np
import pytest

from parlink.config import LinkOptions, Tuned
from parlink.decision_config import FEATURES
from parlink.errors import ParlinkError
from parlink.evaluation.deciding import DecisionSet, fit_decision
from parlink.linking.decision import decide
from parlink.linking.features import features_of
from parlink.linking.mentions import Mention
from parlink.types import Candidate, Document, Link, Span


def dataset(name: str, *, bias: float, documents: int = 60, seed: int = 0) -> DecisionSet:
    """Links that are right the more often the surer the detector is."""
    rng = np.random.default_rng(seed)
    gold, proposed, chosen = [], [], []
    for number in range(documents):
        wanted, links, spans = [], [], []
        for place in range(6):
            logit, span = float(rng.normal(scale=3)), Span(2 * place, 2 * place + 1)
            candidates = (Candidate("A", score=1.0, prior=0.5), Candidate("B", score=0.0, prior=0.5))
            title = "A" if rng.random() < 1 / (1 + np.exp(-bias - logit)) else "B"
            links.append(
                Link(span, "A", source="detector", mention_logit=logit, mention_probability=0.5, candidates=candidates)
            )
            wanted.append(Link(span, title))
            spans.append(Link(span, "A", source="given", candidates=candidates))
        text = f"{number:012d}{seed}"
        gold.append(Document(text, links=tuple(wanted)))
        proposed.append(Document(text, links=tuple(links)))
        chosen.append(Document(text, links=tuple(spans)))
    return DecisionSet(name, gold, proposed, chosen)


def test_the_decision_is_calibrated_out_of_fold_and_decides_by_what_matters() -> None:
    fitted = fit_decision([dataset("one", bias=0.0), dataset("two", bias=0.0, documents=200, seed=1)])
    assert [figures.name for figures in fitted.sets] == ["one", "two"]
    assert all(figures.reliability.error < 0.12 and figures.given.error < 0.12 for figures in fitted.sets)
    links = dataset("one", bias=0.0).proposed[0].links
    sure = [fitted.decision.found.probability(features_of(link, "0" * 13, lambda _: None)) for link in links]
    assert np.corrcoef(sure, [link.mention_logit or 0.0 for link in links])[0, 1] > 0.7
    assert fitted.decision.found.weights.keys() == set(FEATURES)
    assert 0.1 < fitted.decision.min_confidence < 0.6


def test_the_linker_is_as_sure_as_what_was_fitted() -> None:
    sets = [dataset("one", bias=0.0)]
    settings = LinkOptions().resolve(Tuned(decision=fit_decision(sets).decision))
    link = sets[0].proposed[0].links[0]
    mention = Mention(0, link.span, "detector", link.mention_logit, link.mention_probability)
    made = decide(mention, link.candidates, settings, surface="0", describe=lambda _: None)
    log_odds = settings.decision.found.bias if settings.decision else 0.0
    assert made.confidence is not None and log_odds != 0.0
    assert (made.title == "A") == (made.confidence >= (settings.decision.min_confidence if settings.decision else 0))


def test_nothing_to_fit_on_is_an_error() -> None:
    with pytest.raises(ParlinkError, match="no link with a scored candidate"):
        fit_decision([DecisionSet("empty", [Document("a")], [Document("a")], [Document("a")])])
