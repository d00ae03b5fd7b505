"""What was changed about one entity of a knowledge base: a record, kept as one row of the overlay file."""

from __future__ import annotations

import msgspec


class Record(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """All changes to one entity, of the folder or added."""

    title: str | None = None  # what it is called now; None: it was removed
    base: str | None = None  # what the folder calls it; None: the folder does not have it
    added: bool = False
    id: str | None = None
    type: str | None = None
    description: str | None = None
    names: dict[str, int] = {}  # surface: how often it counts more than in the folder
    hidden: tuple[str, ...] = ()  # keys by which the folder's names, and parts of its title, find it no longer
    former: tuple[str, ...] = ()  # titles that it had
    lost: tuple[str, ...] = ()  # redirects of the folder that are another entity's title now


Records = dict[int, Record | None]  # by the number of the entity in the overlay; None: nothing is changed any more

encode = msgspec.json.Encoder(order="sorted").encode
decode = msgspec.json.Decoder(Record).decode
