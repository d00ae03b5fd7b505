from __future__ import annotations

import bz2
import gzip
import json
import shutil
import signal
import subprocess
import sys
import time

import pytest

from parlink.errors import DataFormatError, KnowledgeBaseError
from parlink.kb import KnowledgeBase
from parlink.kb.build import spill
from parlink.kb.build.build import BuildOptions, build
from parlink.kb.build.facts import Fact, Kind
from parlink.kb.build.merge import Notes, Rules, entities
from parlink.kb.info import Source
from tiny_kb import LINES, found, tiny_folder, write_lines


def built(tmp_path, sources, **options):
    """Build from files that are given as name and content, and open what comes of it."""
    paths = []
    for name, content in sources.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
    report = build(paths, tmp_path / "out", options=BuildOptions(**options))
    return KnowledgeBase.open(tmp_path / "out"), report


def left(folder):
    """What a failed build left behind."""
    return [path.name for path in folder.iterdir() if path.name.startswith((".", "out"))]


CSV = """name,id,description,aliases,count,color
Hamburg,Q1055,"port, large",HH|Hansestadt,40,red
Kent,,,"[""Garden"", {""surface"": ""Invicta"", ""count"": 3}]",,
"""


def test_tables_say_what_json_lines_say(tmp_path):
    lines = [
        {"title": "Hamburg", "id": "Q1055", "description": "port, large", "aliases": ["HH", "Hansestadt"], "count": 40},
        {"title": "Kent", "aliases": ["Garden", {"surface": "Invicta", "count": 3}]},
    ]
    one, _ = built(tmp_path, {"a.csv": CSV}, ignored=["color"])
    tabs = "title\tid\tdescription\taliases\tcount\n" + "\n".join(
        "\t".join(
            [
                line["title"],
                line.get("id", ""),
                line.get("description", ""),
                json.dumps(line["aliases"]),
                str(line.get("count", "")),
            ]
        )
        for line in lines
    )
    (tmp_path / "b").mkdir()
    other, _ = built(tmp_path / "b", {"a.tsv.gz": gzip.compress(tabs.encode())})
    jsonl = KnowledgeBase.open(tiny_folder(tmp_path / "c", lines))
    assert one.info.hash == other.info.hash == jsonl.info.hash
    assert found(one, "Invicta") == [("Kent", "exact")]


def test_a_plain_list_is_enough(tmp_path):
    kb, report = built(tmp_path, {"a.txt": "\ufeffHamburg\n\n  Kent (band) \r\nHamburg\n"})
    assert sorted(kb.titles()) == ["Hamburg", "Kent (band)"]
    assert found(kb, "kent") == [("Kent (band)", "title")]
    assert report.info.notes["titles given twice in one source, merged"] == 1


def test_sources_merge(tmp_path):
    sources = {
        "a.jsonl": '{"title": "Hamburg", "id": "Q1055", "aliases": [{"surface": "HH", "count": 2}]}\n',
        "b.csv": "surface,title,count\nHH,Hamburg,3\nHH,Heinrich Heine,5\n",
        "c.txt": "Heinrich Heine\nHamburg\n",
    }
    kb, report = built(tmp_path, sources)
    assert {c.title: c.prior for c in kb.candidates("HH")} == {"Hamburg": 0.5, "Heinrich Heine": 0.5}
    assert kb.entity("Hamburg").id == "Q1055"
    assert [(source.path, source.kind, source.entries) for source in report.info.sources] == [
        ("a.jsonl", "jsonl", 1),
        ("b.csv", "table", 2),
        ("c.txt", "titles", 2),
    ]


def test_documents_and_articles_give_links(tmp_path):
    document = {
        "text": "HH beat Kent .",
        "links": [
            {"start": 0, "end": 2, "title": "Hamburger SV", "id": "Q51974", "candidates": [{"title": "Hamburg"}]},
            {"start": 8, "end": 12, "title": None, "candidates": [{"title": "Kent (band)", "prior": 1.0}]},
        ],
    }
    article = {"title": "Elbe", "paragraphs": [{"text": "It runs to HH.", "links": [[11, 13, "Hamburg"]]}]}
    kb, _ = built(tmp_path, {"a.jsonl": f"{json.dumps(document)}\n{json.dumps(article)}\n"})
    assert sorted(kb.titles()) == ["Elbe", "Hamburg", "Hamburger SV", "Kent (band)"]
    assert {c.title: c.prior for c in kb.candidates("HH")} == {"Hamburg": 0.5, "Hamburger SV": 0.5}
    assert found(kb, "Kent") == [("Kent (band)", "exact")]
    assert kb.resolve("Q51974") == "Hamburger SV"


def test_a_document_may_have_a_title(tmp_path):
    document = {"title": "Report", "text": "Kent won.", "links": [{"start": 0, "end": 4, "title": "Kent (county)"}]}
    kb, _ = built(tmp_path, {"a.jsonl": f"{json.dumps(document)}\n"})
    assert list(kb.titles()) == ["Kent (county)"]
    assert found(kb, "Kent") == [("Kent (county)", "exact")]


def test_titles_that_are_only_linked_to_can_be_left_out(tmp_path):
    document = {"text": "HH", "links": [{"start": 0, "end": 2, "title": "Hamburg"}]}
    sources = {"a.jsonl": json.dumps(document), "b.txt": "Elbe"}
    for number, options in enumerate(({"min_links": None}, {"min_links": 2})):
        (tmp_path / str(number)).mkdir()
        kb, report = built(tmp_path / str(number), sources, **options)
        assert list(kb.titles()) == ["Elbe"]
        assert report.info.notes == {"titles left out that texts link to too seldom": 1}


def test_names_that_are_made_unique_do_not_meet(tmp_path):
    lines = [{"title": "A", "id": "a"}, {"title": "A", "id": "1950"}, {"title": "A", "id": "0", "description": "1950"}]
    kb, _ = built(tmp_path, {"a.jsonl": "\n".join(map(json.dumps, lines))})
    assert {kb.entity(title).id for title in kb.titles()} == {"a", "1950", "0"}


def test_equal_names_are_made_unique_and_reported(tmp_path):
    lines = [
        {"title": "Mercury", "id": "Q308", "description": "planet, the smallest", "count": 9, "aliases": ["Hermes"]},
        {"title": "Mercury", "id": "Q925", "description": "chemical element, Hg", "aliases": ["Hg"]},
        {"title": "Mercury", "id": "Q1"},
        {"title": "Mercury", "id": "Q2", "description": "chemical element"},
        {"title": "Mercury", "id": "Q3", "description": "a ship that was built long ago by many hands. It sank."},
        {"title": "Mercury (chemical element)", "id": "Q4"},
        {"title": "Mercury", "id": "Q308"},
    ]
    kb, report = built(tmp_path, {"a.jsonl": "\n".join(map(json.dumps, lines))})
    ids = {title: kb.entity(title).id for title in kb.titles()}
    assert ids == {
        "Mercury": "Q308",
        "Mercury (Q1)": "Q1",
        "Mercury (chemical element)": "Q4",
        "Mercury (chemical element, Q925)": "Q925",
        "Mercury (Q2)": "Q2",
        "Mercury (a ship that was built long ago by many)": "Q3",
    }
    assert report.info.notes["names made unique"] == 4
    assert len(report.examples["names made unique"]) == 4
    assert {title for title, _ in found(kb, "mercury")} == set(ids)
    assert found(kb, "Hg") == [("Mercury (chemical element, Q925)", "exact")]
    assert found(kb, "Mercury (Q1)")[0] == ("Mercury (Q1)", "exact")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ids.tsv", "Kent (band)\tQ1\nElsewhere\tQ2\n"),
        ("ids.csv", "id,title\nQ1,Kent (band)\n"),
        ("ids.json", '{"Kent (band)": "Q1", "Elsewhere": "Q2"}'),
    ],
)
def test_ids_can_be_given_apart(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    kb, report = built(tmp_path, {"a.txt": "Kent (band)\nKent\n"}, ids=[tmp_path / name])
    assert kb.entity("Kent (band)").id == "Q1"
    assert kb.entity("Kent").id is None
    assert kb.resolve("Q1") == "Kent (band)"
    assert kb.resolve("Q2") is None
    assert [source.kind for source in report.info.sources] == ["titles", "ids"]


def test_an_id_of_the_source_itself_is_kept(tmp_path):
    (tmp_path / "ids.json").write_text('{"Kent": "Q9", "Hamburg": "Q8"}')
    kb, _ = built(
        tmp_path, {"a.jsonl": '{"title": "Kent", "id": 1}\n{"title": "Hamburg"}'}, ids=[tmp_path / "ids.json"]
    )
    assert kb.entity("Kent").id == "1"
    assert kb.entity("Hamburg").id == "Q8"


def test_redirects_bring_titles_to_one_spelling(tmp_path):
    (tmp_path / "r.json").write_text(
        '{"HSV_Hamburg": "Hamburger_SV", "Hamburger_S.V.": "HSV_Hamburg", "A": "B", "B": "A"}'
    )
    lines = (
        '{"title": "HSV Hamburg", "aliases": ["HSV"]}\n{"title": "Hamburger SV", "aliases": ["HSV"]}\n{"title": "A"}'
    )
    kb, _ = built(tmp_path, {"a.jsonl": lines}, redirects=tmp_path / "r.json")
    assert sorted(kb.titles()) == ["A", "Hamburger SV"]  # a circle leads nowhere
    assert kb.resolve("Hamburger_S.V.") == kb.resolve("HSV Hamburg") == "Hamburger SV"
    assert [(c.title, c.prior) for c in kb.candidates("HSV")] == [("Hamburger SV", 1.0)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "title,aliases,links\nTom &amp;amp; Jerry,Tom &#38; Co.|R&copy,Li&#39;l Abner\n"),
        ("a.tsv", "title\taliases\nTom &amp; Jerry\tTom &#x26; Co.|R&copy\n"),
        ("a.jsonl", '{"title": "Tom &amp;amp; Jerry", "aliases": ["Tom &amp; Co.", "R&copy"]}\n'),
    ],
)
def test_character_references_in_tables_are_read(tmp_path, name, content):
    (tmp_path / "ids.csv").write_text("Tom &amp; Jerry,Q1\n")
    kb, _ = built(tmp_path, {name: content}, ids=[tmp_path / "ids.csv"])
    assert list(kb.titles()) == ["Tom & Jerry"]
    assert found(kb, "Tom & Co.") == found(kb, "R&copy") == [("Tom & Jerry", "exact")]
    assert kb.resolve("Tom_&amp;amp;_Jerry") == kb.resolve("Q1") == "Tom & Jerry"


def test_character_references_in_redirects_are_read(tmp_path):
    (tmp_path / "r.json").write_text('{"Lil_Abner": "Li&amp;#39;l_Abner", "Tom &amp; Co.": "Tom & Jerry", "C": "C#"}')
    kb, _ = built(tmp_path, {"a.txt": "Li'l Abner\nTom & Jerry\nC#\n"}, redirects=tmp_path / "r.json")
    assert sorted(kb.titles()) == ["C#", "Li'l Abner", "Tom & Jerry"]
    assert [kb.resolve(old) for old in ("Lil Abner", "Tom & Co.", "C")] == ["Li'l Abner", "Tom & Jerry", "C#"]


def test_aliases_and_ids_of_unknown_titles_are_left_out_and_reported(tmp_path):
    (tmp_path / "ids.json").write_text('{"Elsewhere": "Q2"}')
    sources = {"a.txt": "Kent\n", "b.jsonl": '{"surface": "HH", "title": "Hamburg"}'}
    kb, report = built(tmp_path, sources, ids=[tmp_path / "ids.json"])
    assert list(kb.titles()) == ["Kent"]
    assert found(kb, "HH") == []
    assert report.info.notes == {"ids and aliases of unknown titles, left out": 2}
    assert report.examples["ids and aliases of unknown titles, left out"] == ["Elsewhere", "Hamburg"]


def test_memory_is_bounded_and_the_result_the_same(tmp_path, monkeypatch):
    kb = KnowledgeBase.open(tiny_folder(tmp_path / "a"))
    monkeypatch.setattr("parlink.kb.build.spill.MAX_BYTES", 700)
    pieces, write = [], spill._write_parquet
    monkeypatch.setattr(spill, "_write_parquet", lambda path, rows: pieces.append(len(rows)) or write(path, rows))
    assert KnowledgeBase.open(tiny_folder(tmp_path / "b")).info.hash == kb.info.hash
    assert len(pieces) > 20 and max(pieces) <= 5


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("a.jsonl", '{"title": "Kent"}\n{"title": ', 2, "JSON|truncated"),
        ("a.jsonl", '{"title": "Kent"}\n\n{"title": " "}', 3, "the title is empty"),
        ("a.jsonl", '{"title": ""}', 1, "the title is empty"),
        ("a.jsonl", '{"id": "Q1"}', 1, "title"),
        ("a.jsonl", '{"title": "Kent", "count": -1}', 1, "count"),
        ("a.jsonl", '{"title": "Kent", "aliases": [""]}', 1, "the alias is empty"),
        ("a.jsonl", '{"title": "Kent", "aliases": [7]}', 1, "aliases"),
        ("a.jsonl", '{"text": "Kent", "links": [{"start": 0, "end": 9}]}', 1, "span"),
        ("a.jsonl", '{"text": "Kent", "links": [{"start": 0, "end": 4, "title": ""}]}', 1, "the title is empty"),
        ("a.jsonl", '{"title": "Kent", "count": 4294967296}', 1, "count"),
        ("a.jsonl", b'{"title": "K\xff"}', 1, "UTF-8|utf-8|encoding"),
        ("a.jsonl", '{"title": "Kent", "aliases": ' + "[" * 100_000, 1, "not an entry|recursion"),
        ("a.csv", "id\nQ1\n", 1, "column 'title' or 'name'"),
        ("a.csv", "title,desription\nKent,x\n", 1, "'desription' is unknown, the nearest known one is 'description'"),
        ("a.csv", "title,name\nKent,x\n", 1, "both 'name' and 'title'"),
        ("a.csv", 'title,aliases\nKent,"[1,"\n', 2, "no JSON"),
        ("a.jsonl", '{"title": "Kent", "alias": ["x"]}', 1, "'alias' is unknown, the nearest known one is 'aliases'"),
        ("a.parquet", "PAR1", None, "Parquet"),
        ("a.json", '[\n{"id": "Q1"},\n{"id": \n]', 3, "Wikidata"),
        ("page.sql", "INSERT INTO `user` VALUES (1);\n", 1, "none of the tables"),
        (
            "page.sql",
            "CREATE TABLE `page` (\n  `page_id` int\n);\nINSERT INTO `page` VALUES (1,2);",
            4,
            "row of 1 values",
        ),
        ("a.csv", "title,id\nKent,Q1\nHamburg\n", 3, "1 fields"),
        ("a.csv", "title,id\n,Q1\n", 2, "the title is empty"),
        ("a.csv", "title,count\nKent,many\n", 2, "count"),
        ("a.csv", b"title\nK\xff\n", 2, "UTF-8"),
        ("a.csv", 'title,id\n"Kent\n\nCounty",Q1\n"Ulm', 5, "end of data"),
        ("a.tsv", "", 1, "column 'title'"),
        ("a.txt", b"Kent\nK\xff\n", 2, "UTF-8"),
        ("a.jsonl.gz", gzip.compress(b'{"title": "Kent"}\n' * 9)[:-9], None, "cut off"),
        ("ids.tsv", "Kent\n", 1, "a title and an id"),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_left_behind(tmp_path, name, content, line, message):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    good = tmp_path / "good.txt"
    good.write_text("Ulm\n")
    options = BuildOptions(ids=[path]) if name.startswith("ids") else BuildOptions()
    sources = [good] if options.ids else [good, path]
    with pytest.raises(DataFormatError, match=message) as caught:
        build(sources, tmp_path / "out", options=options)
    assert caught.value.path == path
    assert line is None or caught.value.line == line
    assert left(tmp_path) == []


def test_sources_that_cannot_be_used_are_named(tmp_path):
    (tmp_path / "a.pdf").write_text("x")
    (tmp_path / "a.txt").write_text("\n")
    (tmp_path / "out").mkdir()
    cases = [
        ([], "no sources"),
        ([tmp_path / "none.txt"], "no such file"),
        ([tmp_path / "a.pdf"], r"names end in \.jsonl"),
        ([tmp_path / "a.txt"], "there already, and no knowledge base"),
    ]
    for sources, message in cases:
        with pytest.raises(KnowledgeBaseError, match=message):
            build(sources, tmp_path / "out", options=BuildOptions(replace=True))
    for beside in ({"ids": (tmp_path / "ids.tsv",)}, {"redirects": tmp_path / "ids.tsv"}):
        (tmp_path / "broken.jsonl").write_text("never read")
        with pytest.raises(KnowledgeBaseError, match=r"ids\.tsv: is not there"):
            build([tmp_path / "broken.jsonl"], tmp_path / "new", options=BuildOptions(**beside))
    with pytest.raises(KnowledgeBaseError, match="no entity"):
        build([tmp_path / "a.txt"], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_folder_is_replaced_only_when_asked(tmp_path):
    folder = tiny_folder(tmp_path)
    source = write_lines(tmp_path / "other.jsonl", [{"title": "Ulm"}])
    with pytest.raises(KnowledgeBaseError, match="ask to replace it"):
        build([source], folder)
    with pytest.raises(DataFormatError):
        build([write_lines(tmp_path / "bad.jsonl", [{"title": ""}])], folder, options=BuildOptions(replace=True))
    assert len(KnowledgeBase.open(folder)) == len(LINES)  # a failed build does not harm it
    opened = KnowledgeBase.open(folder)
    build([source], folder, options=BuildOptions(replace=True))
    assert list(KnowledgeBase.open(folder).titles()) == ["Ulm"]
    assert found(opened, "Kent")  # who has the old one open still reads the old one
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", "kb", "kb.jsonl", "other.jsonl"]


KILLED = """
import os, sys
from pathlib import Path
from parlink.kb.build.build import BuildOptions, build
rename, renames = Path.rename, []
def kill_at(path, target):
    renames.append(target)
    if len(renames) > int(sys.argv[3]):
        os._exit(9)
    return rename(path, target)
Path.rename = kill_at
build([sys.argv[1]], sys.argv[2], options=BuildOptions(replace=True))
os._exit(9)
"""


@pytest.mark.parametrize("renames", [0, 1, 2])
@pytest.mark.parametrize("by", ["opening", "building"])
def test_a_build_killed_between_its_renames_is_finished_by_the_next_who_comes(tmp_path, renames, by):
    folder = tiny_folder(tmp_path)
    source = write_lines(tmp_path / "other.jsonl", [{"title": "Ulm"}])
    command = [sys.executable, "-c", KILLED, str(source), str(folder), str(renames)]
    assert subprocess.run(command, check=False).returncode == 9
    if by == "opening":
        assert len(KnowledgeBase.open(folder)) == (1 if renames else len(LINES))
    build([source], folder, options=BuildOptions(replace=True))
    assert list(KnowledgeBase.open(folder).titles()) == ["Ulm"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kb", "kb.jsonl", "other.jsonl"]


KILLED_CLEANING = """
import os, sys
from pathlib import Path
from parlink.kb.build.build import build

source, folder, removals = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])

def watch(event, arguments):
    global removals
    if event == "os.remove":
        removals -= 1
        if removals < 0:
            os._exit(9)

sys.addaudithook(watch)
build([source], folder)
"""


def test_a_build_killed_while_it_cleans_up_is_gone_on_with(tmp_path):
    source, folder = write_lines(tmp_path / "a.jsonl", LINES), tmp_path / "out"
    for removals in range(20):
        killed = subprocess.run([sys.executable, "-c", KILLED_CLEANING, str(source), str(folder), str(removals)])
        if killed.returncode == 0:
            break
        assert killed.returncode == 9
        if not folder.exists():
            build([source], folder, options=BuildOptions(resume=True))
        assert sorted(KnowledgeBase.open(folder).titles()) == sorted(line["title"] for line in LINES)
        shutil.rmtree(folder)
    assert removals > 2


def test_two_builds_of_one_folder_do_not_meet(tmp_path):
    source = write_lines(tmp_path / "a.jsonl", LINES)

    def build_again(*step):
        with pytest.raises(KnowledgeBaseError, match="another build"):
            build([source], tmp_path / "out")

    build([source], tmp_path / "out", progress=build_again)
    assert len(KnowledgeBase.open(tmp_path / "out")) == len(LINES)


def test_many_ids_under_one_title_take_linear_time(tmp_path):
    def count_calls(size):
        facts = sorted(
            [(Fact("A", f"Q{n}", Kind.NAME, "0"), 1) for n in range(size)]
            + [(Fact(f"A !{n}", "", Kind.NAME, "0"), 1) for n in range(size)]  # before "A (Q1)"
        )
        calls = 0

        def trace(frame, event, argument):
            nonlocal calls
            calls += 1
            return trace

        sys.settrace(trace)
        try:
            assert len(list(entities(facts, Rules(), Notes()))) == 2 * size
        finally:
            sys.settrace(None)
        return calls

    assert count_calls(400) < 2.5 * count_calls(200)


def test_progress_goes_from_nothing_to_all_of_each_source(tmp_path):
    seen = []
    sources = [tmp_path / "a.jsonl", tmp_path / "b.txt.bz2"]
    write_lines(sources[0], LINES)
    sources[1].write_bytes(bz2.compress(b"Ulm\n" * 1000))
    build(sources, tmp_path / "out", progress=lambda *step: seen.append(step))
    size = sources[0].stat().st_size
    assert seen[0] == ("a.jsonl", 0, size)
    assert ("a.jsonl", size, size) in seen
    assert ("b.txt.bz2", 4000, 4000) in seen
    assert all(done <= whole for _, done, whole in seen)


FILLS_THE_DISK = """
import resource, sys
from parlink.errors import KnowledgeBaseError
from parlink.kb.build.build import build
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    build([sys.argv[1]], sys.argv[2])
except KnowledgeBaseError as error:
    print(error)
"""


@pytest.mark.parametrize("size", [100, 6000, 60_000])
def test_a_full_disk_is_a_plain_error_and_nothing_is_left_behind(tmp_path, size):
    source = tmp_path / "a.txt"
    source.write_text("".join(f"Town number {n * n} of {n}\n" for n in range(5000)))
    command = [sys.executable, "-c", FILLS_THE_DISK, str(source), str(tmp_path / "out"), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cannot be written" in done.stdout
    assert "free some space" in done.stdout
    assert left(tmp_path) == []


INTERRUPTED = """
import signal, sys
from parlink.kb.build.build import build
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell that starts this in the background ignores
build([sys.argv[1]], sys.argv[2], progress=lambda *step: print("reading", flush=True))
"""


def test_an_interrupt_leaves_nothing_behind(tmp_path):
    source = tmp_path / "a.txt"
    source.write_text("".join(f"Town {n}\n" for n in range(400_000)))
    command = [sys.executable, "-c", INTERRUPTED, str(source), str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        begin = time.monotonic()
        while not left(tmp_path):
            assert time.monotonic() - begin < 30
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in errors
    assert process.returncode != 0
    assert left(tmp_path) == []


@pytest.mark.parametrize("size", [700, 1_000_000])  # of what is held in memory
def test_a_build_that_was_stopped_goes_on_where_it_was(tmp_path, monkeypatch, size):
    monkeypatch.setattr("parlink.kb.build.spill.MAX_BYTES", size)
    first = write_lines(tmp_path / "a.jsonl", LINES)
    second = write_lines(tmp_path / "b.jsonl", [{"title": "Ulm"}])

    def stop(stage, done, whole):
        if stage == "b.jsonl":
            raise KeyboardInterrupt

    def run(*, progress=lambda *step: None, **options):
        return build([first, second], tmp_path / "out", options=BuildOptions(**options), progress=progress)

    with pytest.raises(KeyboardInterrupt):
        run(progress=stop)
    assert left(tmp_path) == [".out.build"]
    done = tmp_path / ".out.build" / "part-0" / "done.json"
    assert done.is_file()
    marked = done.read_bytes().replace(b'"entries":12', b'"entries":12012')
    done.write_bytes(marked)
    assert [source.entries for source in run(resume=True).info.sources] == [12012, 1]  # it was not read again
    resumed = KnowledgeBase.open(tmp_path / "out").info.hash
    assert left(tmp_path) == ["out"]
    run(replace=True)
    assert KnowledgeBase.open(tmp_path / "out").info.hash == resumed
    with pytest.raises(KeyboardInterrupt):
        run(progress=stop, replace=True)
    first.write_text('{"title": "Kent"}\n')
    assert [source.entries for source in run(resume=True, replace=True).info.sources] == [1, 1]  # it has changed
    with pytest.raises(KeyboardInterrupt):
        run(progress=stop, replace=True)
    done.write_bytes(done.read_bytes().replace(b'"entries":1', b'"entries":77'))
    assert [source.entries for source in run(replace=True).info.sources] == [1, 1]  # not asked to resume
    assert left(tmp_path) == ["out"]


def test_what_a_build_killed_before_its_cleaning_leaves_is_removed_by_the_next(tmp_path):
    target = tiny_folder(tmp_path)
    remains = tmp_path / ".kb.build"
    remains.mkdir()
    (remains / "lock").touch()
    with pytest.raises(KnowledgeBaseError, match="there already"):
        build([tmp_path / "kb.jsonl"], target)
    assert not remains.exists()


def test_what_sources_were_made_from_is_named_in_place_of_them(tmp_path):
    origin = Source(path="dump.xml", kind="mediawiki", sha256="0" * 64, entries=3, license="CC0", url="https://x.org")
    kb, _ = built(tmp_path, {"made.jsonl": '{"title": "Kent"}\n'}, origins=[origin])
    assert kb.info.sources == (origin,)
