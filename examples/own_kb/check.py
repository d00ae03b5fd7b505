#!/usr/bin/env python3
"""Checks entities.csv and sentences.jsonl (standard library only). Exit code 1 when something is wrong."""

import csv
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).parent
TYPES = {"person", "organization", "place", "event", "work", "product", "species", "other"}
MAX_VARIANTS = 10  # links whose surface is a natural variant, not a listed name
errors = []


def err(where, message):
    errors.append(f"{where}: {message}")


def bare(name):
    """The name without its bracketed qualifier."""
    return re.sub(r"\s*\([^()]*\)$", "", name)


def script(text):
    for ch in text:
        o = ord(ch)
        if 0x0400 <= o <= 0x052F:
            return "Cyrillic"
        if 0x0600 <= o <= 0x06FF:
            return "Arabic"
        if 0x3040 <= o <= 0x30FF or 0x3400 <= o <= 0x9FFF or 0xAC00 <= o <= 0xD7AF:
            return "CJK"
    return "Latin"


def words(text):
    return re.findall(r"\w+", text.casefold())


# --- entities -----------------------------------------------------------
with (HERE / "entities.csv").open(encoding="utf-8", newline="") as f:
    reader = csv.DictReader(f)
    if reader.fieldnames != ["name", "aliases", "description", "id", "type"]:
        err("csv", f"header is {reader.fieldnames}")
    rows = list(reader)

by_name = {}
ids = Counter()
surfaces = defaultdict(list)  # casefolded surface -> titles, in file order
of_title = {}
for r in rows:
    name = r["name"]
    if name in by_name:
        err(name, "name is not unique")
    by_name[name] = r
    ids[r["id"]] += 1
    aliases = [a for a in r["aliases"].split("|") if a]
    if len({a.casefold() for a in aliases}) != len(aliases):
        err(name, "an alias is listed twice")
    for s in [name, r["description"], r["id"], *aliases]:
        if s != s.strip() or not s:
            err(name, "blank or unstripped field")
    if r["type"] not in TYPES:
        err(name, f"type {r['type']}")
    if not re.fullmatch(r"Q\d+|P-\d{4}", r["id"]):
        err(name, f"id {r['id']}")
    if "\n" in r["description"]:
        err(name, "description has more than one line")
    if script(r["description"]) in ("Latin", "Cyrillic", "Arabic") and not 5 <= len(r["description"].split()) <= 25:
        err(name, f"description has {len(r['description'].split())} words")
    of_title[name] = {s.casefold() for s in [name, bare(name), *aliases]}
    for s in of_title[name]:
        surfaces[s].append(name)
for i, n in ids.items():
    if n > 1:
        err(i, "id is not unique")

# --- sentences ----------------------------------------------------------
with (HERE / "sentences.jsonl").open(encoding="utf-8") as f:
    docs = [json.loads(line) for line in f]

pattern = {}
for s in surfaces:
    edge = script(s) != "CJK"
    pattern[s] = re.compile((r"(?<!\w)" if edge else "") + re.escape(s) + (r"(?!\w)" if edge else ""), re.I)

seen_ids = set()
seen_texts = set()
links = nulls = amb = unamb = null_amb = 0
variants = []
types, scripts, per_text, linked_titles = Counter(), Counter(), Counter(), Counter()
first = 0
expected_first = 0.0
for d in docs:
    w = f"text {d['id']}"
    text = d["text"]
    if set(d) != {"id", "text", "links"}:
        err(w, f"keys {sorted(d)}")
    if d["id"] in seen_ids or text in seen_texts:
        err(w, "repeated id or text")
    seen_ids.add(d["id"])
    seen_texts.add(text)
    per_text[len(d["links"])] += 1
    if not 1 <= len(d["links"]) <= 4:
        err(w, f"{len(d['links'])} links")
    last = 0
    covered = [False] * len(text)
    for k in d["links"]:
        if set(k) != {"start", "end", "title", "ambiguous"}:
            err(w, f"link keys {sorted(k)}")
        a, b, title = k["start"], k["end"], k["title"]
        if not (last <= a < b <= len(text)):
            err(w, f"offsets {a}-{b} are out of range, overlapping or unordered")
            continue
        last = b
        covered[a:b] = [True] * (b - a)
        s = text[a:b]
        if s != s.strip():
            err(w, f"span {s!r} has blanks at its edge")
        inside_word = (a and re.match(r"\w", text[a - 1])) or (b < len(text) and re.match(r"\w", text[b]))
        if script(s) != "CJK" and inside_word:
            err(w, f"span {s!r} does not end at word boundaries")
        candidates = surfaces.get(s.casefold(), [])
        if k["ambiguous"] is not (len(candidates) > 1):
            err(w, f"ambiguous flag of {s!r} is wrong")
        links += 1
        if title is None:
            nulls += 1
            null_amb += k["ambiguous"]
            if not candidates:
                err(w, f"null link {s!r} is no name of the CSV")
            continue
        if title not in by_name:
            err(w, f"title {title!r} is not in the CSV")
            continue
        linked_titles[title] += 1
        types[by_name[title]["type"]] += 1
        scripts[script(s)] += 1
        if s.casefold() not in of_title[title]:
            variants.append((d["id"], s, title))
        if k["ambiguous"]:
            amb += 1
            if candidates and candidates[0] == title:
                first += 1
            expected_first += 1 / len(candidates) if candidates else 0
        else:
            unamb += 1
        # no copying: at most three words in a row shared with the description
        dw, tw = words(by_name[title]["description"]), words(text)
        grams = {tuple(tw[i : i + 4]) for i in range(len(tw) - 3)}
        for i in range(len(dw) - 3):
            if tuple(dw[i : i + 4]) in grams:
                err(w, f"copies the description of {title}: {' '.join(dw[i : i + 4])}")
    # complete gold: no name of the CSV is left without a link.
    # Names of one or two letters (He, Co, In) count in their own case only.
    own_case = {bare(n) for n in by_name} | {x for r in rows for x in r["aliases"].split("|") if x}
    for s, p in pattern.items():
        for m in p.finditer(text):
            if all(covered[m.start() : m.end()]):
                continue
            if len(s) <= 2 and m.group() not in own_case:
                continue
            err(w, f"{m.group()!r} at {m.start()} has no link")

if len(variants) > MAX_VARIANTS:
    err("sentences", f"{len(variants)} links use an unlisted surface")


def show(c):
    return ", ".join(f"{k} {v}" for k, v in sorted(c.items(), key=lambda x: str(x[0])))


ambiguous_titles = {n for ts in surfaces.values() if len(ts) > 1 for n in ts}
print(f"entities: {len(rows)} ({show(Counter(r['type'] for r in rows))})")
print(
    f"  names by script: {show(Counter(script(r['name']) for r in rows))}; ids: "
    f"{sum(r['id'][0] == 'Q' for r in rows)} QIDs, {sum(r['id'][0] == 'P' for r in rows)} own"
)
print(
    f"  surfaces: {len(surfaces)}, of them ambiguous {sum(len(t) > 1 for t in surfaces.values())}; "
    f"entities with an ambiguous surface: {len(ambiguous_titles)}"
)
print(f"texts: {len(docs)} (links a text: {show(per_text)})")
print(
    f"links: {links} = {links - nulls} to an entity ({amb} ambiguous, {unamb} not) + "
    f"{nulls} null ({null_amb} of them ambiguous strings)"
)
print(f"  linked by type: {show(types)}")
print(f"  linked by script of the mention: {show(scripts)}")
print(f"  different entities linked: {len(linked_titles)}")
print(f"  unlisted surfaces: {len(variants)} {variants if variants else ''}")
print(
    f"  ambiguous links whose entity is the first candidate in the file: {first} of {amb} "
    f"(by chance {expected_first:.0f})"
)
for e in errors:
    print("ERROR", e)
print("clean" if not errors else f"{len(errors)} errors")
sys.exit(1 if errors else 0)
