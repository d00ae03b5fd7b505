"""The options of linking are defined once, and are the same wherever one links."""

from __future__ import annotations

from inspect import signature

import pytest

from parlink.cli.annotate import annotate
from parlink.cli.evaluate import evaluate
from parlink.cli.link import link
from parlink.cli.serve import serve
from parlink.config import LinkOptions
from parlink.errors import ConfigError
from parlink.integrations.spacy import Settings, create
from parlink.serve.queries import LinkQuery, check_defaults
from parlink.serve.settings import Settings as Limits
from parlink.struct_fields import described_fields

FIELDS = list(described_fields(LinkOptions))


def test_all_options_that_a_user_sets_say_what_they_mean() -> None:
    names = {field.name for field in FIELDS}
    assert set(LinkOptions.__struct_fields__) - names == {"weights", "titles", "overlaps", "parts"}


@pytest.mark.parametrize("command", [link, annotate, evaluate, serve], ids=lambda command: command.__name__)
def test_commands_have_them(command: object) -> None:
    parameters = signature(command).parameters  # type: ignore[arg-type]
    assert all(parameters[field.name].default == field.default for field in FIELDS)


def test_requests_have_them() -> None:
    for field in FIELDS:
        described = LinkQuery.model_fields[field.name]
        default = "false" if field.default is False else field.default
        assert (described.default, described.description) == (default, field.meta.description)
    assert LinkQuery().make_options(Limits()) == LinkOptions()
    query = LinkQuery(document_names="true", fallback="false", search="beam", beams=3, min_confidence=0.5)
    wanted = LinkOptions(document_names=True, fallback=False, search="beam", beams=3, min_confidence=0.5)
    assert query.make_options(Limits()) == wanted


def test_a_request_changes_what_the_service_was_told_and_nothing_else() -> None:
    told = LinkOptions(min_confidence=0.5, beams=2, any_case=True)
    wanted = LinkOptions(min_confidence=0.5, beams=3, any_case=False)
    assert LinkQuery(beams=3, any_case="false").make_options(Limits(), told) == wanted


def test_a_service_does_not_do_of_itself_what_it_refuses_to_requests() -> None:
    check_defaults(LinkOptions(max_candidates=100), Limits())
    with pytest.raises(ConfigError, match=r"--max-candidates is 101, .* at most 100; give --most-candidates 101"):
        check_defaults(LinkOptions(max_candidates=101), Limits())
    check_defaults(LinkOptions(beams=30), Limits(most_beams=30))


def test_the_pipe_of_spacy_has_them() -> None:
    assert {field.name: getattr(Settings(), field.name) for field in FIELDS} == {
        field.name: field.default for field in FIELDS
    }
    assert Settings().options == LinkOptions()
    assert {field.name for field in FIELDS} <= signature(create).parameters.keys()
