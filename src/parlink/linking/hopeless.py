"""Leave out proposals that no candidate could make a link: nothing need be looked up, read or scored for them.

Detector and dictionary propose whatever might be a mention, and leave it to the decision, which sees the candidates
too. What it would not link though a single candidate were beyond doubt is no link whatever the candidates are.
"""

from __future__ import annotations

from collections.abc import Sequence

from parlink.config import LinkSettings
from parlink.linking.decision import decide
from parlink.linking.features import LinkedBy
from parlink.linking.mentions import FoundMentions, Mention
from parlink.linking.overlaps import is_told
from parlink.types import Candidate, Document, Entity

BEST = 2.0  # a score that few candidates have, and hardly any of a doubtful mention


def drop_hopeless(
    found: FoundMentions, docs: Sequence[Document], settings: LinkSettings, *, linked_by: LinkedBy
) -> FoundMentions:
    """Keep the mentions that may become links, and those that are told of though they are not linked."""
    keep = [place for place, m in enumerate(found.mentions) if _has_hope(m, docs[m.document].text, settings, linked_by)]
    if len(keep) == len(found.mentions):
        return found
    return FoundMentions([found.mentions[place] for place in keep], found.known[keep])


def _has_hope(mention: Mention, text: str, settings: LinkSettings, linked_by: LinkedBy) -> bool:
    """Whether the decision would link a mention to the best candidate that there can be."""
    if mention.source == "given":
        return True
    surface = text[mention.span.start : mention.span.end]
    best = Candidate(surface, score=BEST, prior=1.0, coherence=1.0, match_type="exact")
    return is_told(decide(mention, [best], settings, surface=surface, describe=Entity, linked_by=linked_by), settings)
