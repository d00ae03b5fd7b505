"""The spaCy pipe in real pipelines, with a tiny real model."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy import displacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from parlink import Document, Link, Linker, LinkOptions, ParlinkError, Span
from parlink.checkpoint.folder import save_checkpoint
from parlink.data.formats import docbin
from parlink.errors import ConfigError
from parlink.integrations.spacy import _widen
from parlink.struct_fields import described_fields
from tiny_kb import tiny_folder
from tiny_model import tiny_checkpoint

TEXTS = (
    "HSV lost to Kent in Zürich.",
    "",
    "Nobody \N{GRINNING FACE} said anything about Kent, or of Lloyd's in London.",
    "Emma Oberländer painted Hamburg.",
)
PATTERNS = [{"label": "ORG", "pattern": word} for word in ("HSV", "Kent", "Nobody")]


def test_the_page_names_every_option_of_linking() -> None:
    page = (Path(__file__).parents[2] / "docs" / "spacy.md").read_text()
    assert not [field.name for field in described_fields(LinkOptions) if f"`{field.name}`" not in page]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that carries its knowledge base."""
    folder = tmp_path_factory.mktemp("spacy") / "model"
    save_checkpoint(folder, tiny_checkpoint(seed=4, spread=2.0), card="tiny")
    tiny_folder(folder, url_template="https://example.org/{title}")
    return folder


@pytest.fixture
def linker(folder: Path) -> Linker:
    return Linker.load(folder)


def pipeline(folder: Path, *, given: bool = False, **config: object) -> Language:
    nlp = spacy.blank("en")
    if given:
        nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)  # type: ignore[attr-defined]
    nlp.add_pipe("parlink", config={"model": str(folder), **config})
    return nlp


@pytest.mark.parametrize(("field", "value"), [("device", "abacus"), ("precision", "int4")])
def test_where_and_how_precisely_are_settings(folder: Path, field: str, value: str) -> None:
    with pytest.raises((ConfigError, ValueError), match=f"{field}|{value}"):
        pipeline(folder, **{field: value})(TEXTS[0])


def links(doc: Doc) -> list[tuple[str, str, Link]]:
    return [(ent.text, ent.kb_id_, ent._.parlink) for ent in doc.ents]


def test_entities_of_a_pipe_before_are_linked_and_nothing_else(folder: Path, linker: Linker) -> None:
    doc = pipeline(folder, given=True)(TEXTS[0])
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("HSV", "ORG"), ("Kent", "ORG")]
    wanted = linker.link(Document(TEXTS[0], spans=(Span(0, 3), Span(12, 16)))).links
    assert [ent._.parlink for ent in doc.ents] == list(wanted)
    assert [ent.kb_id_ for ent in doc.ents] == [link.title for link in wanted]
    assert any(link.id not in (None, link.title) for link in wanted)
    hsv = doc.ents[0]._.parlink
    assert {candidate.title for candidate in hsv.candidates} == {"Hamburg", "Hamburger SV"}
    assert 0 <= hsv.confidence <= 1


def test_an_entity_that_is_not_linked_has_no_id_and_a_reason(folder: Path) -> None:
    doc = pipeline(folder, given=True)(TEXTS[2])
    assert [(ent.text, ent.kb_id_ == "") for ent in doc.ents] == [("Nobody", True), ("Kent", False)]
    assert doc.ents[0]._.parlink.reason == "no_candidate"


def test_a_docbin_of_the_pipe_is_read_as_it_linked(folder: Path, tmp_path: Path) -> None:
    doc = pipeline(folder, given=True)(TEXTS[0])
    (tmp_path / "a.spacy").write_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes())
    (again,) = docbin.read(tmp_path / "a.spacy")
    assert [ent.kb_id_ for ent in doc.ents] == [link.title for link in again]
    assert list(again) == [ent._.parlink for ent in doc.ents]


def test_an_entity_that_is_found_is_labeled_by_its_type() -> None:
    links = [Link(Span(0, 3), "Hamburger SV", type="organization"), Link(Span(12, 16), "Kent")]
    doc = spacy.blank("en")(TEXTS[0])
    assert [ent.label_ for ent in _widen(doc, links, None)] == ["organization", "ENTITY"]
    assert [ent.label_ for ent in _widen(doc, links, "THING")] == ["THING", "THING"]


def test_without_a_pipe_before_mentions_are_found_and_widened_to_tokens(folder: Path, linker: Linker) -> None:
    doc = pipeline(folder, label="THING")(TEXTS[0])
    found = linker.link(TEXTS[0]).links
    assert doc.ents
    assert {ent.label_ for ent in doc.ents} == {"THING"}
    for ent in doc.ents:
        inside = [link for link in found if ent.start_char <= link.span.start and link.span.end <= ent.end_char]
        assert ent._.parlink.title in [link.title for link in inside]
    touched = [doc.char_span(link.span.start, link.span.end, alignment_mode="expand") for link in found]
    assert all(
        any(ent.start <= span.start < ent.end or span.start <= ent.start < span.end for ent in doc.ents)
        for span in touched
    )


def test_a_pipe_before_that_found_nothing_means_nothing_to_link(folder: Path) -> None:
    assert pipeline(folder, given=True)("There is no name here.").ents == ()


def test_the_mode_can_be_chosen(folder: Path) -> None:
    assert pipeline(folder, mode="given")(TEXTS[0]).ents == ()
    detected = pipeline(folder, given=True, mode="detect")(TEXTS[0])
    assert links(detected) == links(pipeline(folder)(TEXTS[0]))


@pytest.mark.parametrize("given", [True, False])
def test_a_stream_gives_what_single_documents_give(folder: Path, given: bool) -> None:
    nlp = pipeline(folder, given=given)
    alone = [nlp(text) for text in TEXTS]
    together = list(nlp.pipe(TEXTS, batch_size=3))
    for one, other in zip(alone, together, strict=True):
        assert one.text == other.text
        assert [(text, kb_id) for text, kb_id, _ in links(one)] == [(text, kb_id) for text, kb_id, _ in links(other)]
        for (_, _, a), (_, _, b) in zip(links(one), links(other), strict=True):
            assert a.confidence == pytest.approx(b.confidence, abs=1e-4)
    pairs = list(nlp.pipe([(text, number) for number, text in enumerate(TEXTS)], as_tuples=True))
    assert [number for _, number in pairs] == [0, 1, 2, 3]


def test_thresholds_and_the_number_of_candidates_are_options(folder: Path, linker: Linker) -> None:
    assert pipeline(folder, mention_threshold=1e6)(TEXTS[0]).ents == ()
    doc = pipeline(folder, given=True, candidates=1, score_threshold=1e6)(TEXTS[0])
    assert [ent._.parlink.reason for ent in doc.ents] == ["below_threshold"] * 2
    assert [len(ent._.parlink.candidates) for ent in doc.ents] == [1, 1]
    every = pipeline(folder, mention_threshold=-1e6)(TEXTS[0])
    assert len(linker.link(TEXTS[0], options=LinkOptions(mention_threshold=-1e6)).links) >= len(every.ents) > 0


def test_links_survive_docbin_bytes_and_joining(folder: Path) -> None:
    nlp = pipeline(folder)
    docs = list(nlp.pipe(TEXTS))
    kept = DocBin(store_user_data=True, docs=docs).to_bytes()
    again = list(DocBin().from_bytes(kept).get_docs(spacy.blank("en").vocab))
    assert list(map(links, again)) == list(map(links, docs))
    assert sum(map(len, map(links, docs))) > 1
    assert links(Doc(nlp.vocab).from_bytes(docs[0].to_bytes())) == links(docs[0])
    joined = Doc.from_docs([docs[3], docs[0]])
    assert [(text, kb_id, link.candidates) for text, kb_id, link in links(joined)] == [
        (text, kb_id, link.candidates) for doc in (docs[3], docs[0]) for text, kb_id, link in links(doc)
    ]


def test_displacy_shows_the_links(folder: Path) -> None:
    doc = pipeline(folder, given=True)(TEXTS[0])
    page = displacy.render(
        doc, style="ent", page=True, jupyter=False, options={"kb_url_template": "https://example.org/{}"}
    )
    assert f'href="https://example.org/{doc.ents[0].kb_id_}"' in page
    plain = displacy.render([doc], style="ent", jupyter=False)
    assert plain.count("<mark") == 2


def test_a_saved_pipeline_can_be_moved(folder: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    shutil.copytree(folder, here / "model")
    kb = tiny_folder(here)
    nlp = pipeline(here / "model", given=True, kb=str(kb))
    nlp.get_pipe("parlink").linker.kb.add_alias("Nobody", "Emma Oberländer")  # type: ignore[attr-defined]
    wanted = list(map(links, nlp.pipe(TEXTS)))
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(here)
    (tmp_path / "saved").rename(tmp_path / "moved")
    moved = spacy.load(tmp_path / "moved")
    assert list(map(links, moved.pipe(TEXTS))) == wanted
    assert wanted[2][0][:2] == ("Nobody", "Emma Oberländer")
    moved.to_disk(tmp_path / "moved")  # onto itself
    assert list(map(links, spacy.load(tmp_path / "moved").pipe(TEXTS))) == wanted


def test_bytes_and_pickles_hold_the_settings(folder: Path) -> None:
    nlp = pipeline(folder, candidates=1)
    again = pipeline(Path("nowhere")).from_bytes(nlp.to_bytes())
    assert links(nlp(TEXTS[0]))
    assert links(again(TEXTS[0])) == links(nlp(TEXTS[0]))
    pipe = pickle.loads(pickle.dumps(nlp.get_pipe("parlink")))
    assert links(pipe(nlp.make_doc(TEXTS[0]))) == links(nlp(TEXTS[0]))


def test_a_wrong_folder_or_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParlinkError, match="no-such-model"):
        pipeline(tmp_path / "no-such-model")(TEXTS[0])
    with pytest.raises(ValueError, match="treshold"):
        pipeline(tmp_path, treshold=0.5)
    with pytest.raises(ValueError, match="mode"):
        pipeline(tmp_path, mode="sometimes")


def test_another_process_finds_the_factory_by_its_entry_point_and_reads_a_docbin(folder: Path, tmp_path: Path) -> None:
    doc = pipeline(folder, given=True)(TEXTS[0])
    DocBin(store_user_data=True, docs=[doc]).to_disk(tmp_path / "docs.spacy")
    code = (
        "import sys, spacy\n"
        "nlp = spacy.blank('de')\n"
        "nlp.add_pipe('parlink')\n"
        "(doc,) = spacy.tokens.DocBin().from_disk(sys.argv[1]).get_docs(nlp.vocab)\n"
        "print([(ent.kb_id_, ent._.parlink.title) for ent in doc.ents])"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "docs.spacy"], capture_output=True, text=True)
    assert done.stdout.strip() == str([(ent.kb_id_, ent._.parlink.title) for ent in doc.ents]), done.stderr


def test_a_folder_that_was_saved_to_before_keeps_nothing_of_that(folder: Path, tmp_path: Path) -> None:
    kb = tiny_folder(tmp_path)
    nlp = pipeline(folder, given=True, kb=str(kb))
    nlp.get_pipe("parlink").linker.kb.add_alias("Nobody", "Emma Oberländer")  # type: ignore[attr-defined]
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(kb)
    for file in kb.parent.glob(f"{kb.name}.overlay.sqlite*"):
        file.unlink()
    plain = pipeline(folder, given=True, kb=str(tiny_folder(tmp_path)))
    plain.to_disk(tmp_path / "saved")
    assert list(map(links, spacy.load(tmp_path / "saved").pipe(TEXTS))) == list(map(links, plain.pipe(TEXTS)))
    pipeline(folder, given=True).to_disk(tmp_path / "saved")
    assert spacy.load(tmp_path / "saved").get_pipe("parlink").settings.kb is None  # type: ignore[attr-defined]
