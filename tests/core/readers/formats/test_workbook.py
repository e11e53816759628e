"""Workbooks are read sheet by sheet, as spelled as they can be, and never beyond memory."""

import datetime
import io
import re
import zipfile

import openpyxl
import pytest

from deem_core import InputError
from deem_core.readers import bounds, read, sketch
from deem_core.readers.formats import sheet_size
from deem_core.readers.formats.content import UndecidedError
from deem_core.readers.large import open_large
from deem_core.readers.stream import WholeOnlyError

HEADER = ["id", "a", "b", "c"]
ROWS = [[1, "cat", "dog", "cat"], [2, "dog", "dog", None], [3, "cat", "cat", "dog"]]


def workbook(**sheets) -> bytes:
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(buffer)
    return buffer.getvalue()


def changed(data: bytes, **entries: str) -> bytes:
    """The workbook with other contents of some entries, by the end of their names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            end = entry.filename.rpartition("/")[2].removesuffix(".xml")
            new.writestr(entry.filename, entries.get(end) or old.read(entry))
    return buffer.getvalue()


def sheet_xml(cells: str) -> str:
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{space}"><sheetData>{cells}</sheetData></worksheet>'


def spreadsheet(table: str) -> bytes:
    """An OpenDocument file with one table."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f'<office:document-content {spaces}><office:body><office:spreadsheet><table:table table:name="Votes">'
        f"{table}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("META-INF/manifest.xml", "<manifest/>")
        packed.writestr("content.xml", content)
    return buffer.getvalue()


def ods_cell(cell: object, times: int = 1) -> str:
    repeated = f'table:number-columns-repeated="{times}" '
    return f'<table:table-cell {repeated}office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'


def ods_row(*cells: str, times: int = 1) -> str:
    return f'<table:table-row table:number-rows-repeated="{times}">{"".join(cells)}</table:table-row>'


ANSWERS = [[task, worker, task % 2] for task in range(5) for worker in "xyz"]
TWO = workbook(Votes=[HEADER, *ROWS], Answers=[["task", "worker", "label"], *ANSWERS])


def says(data, *words, **options):
    with pytest.raises(InputError) as refused:
        read(data, **options)
    sentence = str(refused.value)
    assert all(word in sentence for word in words), sentence
    assert "\n" not in sentence
    assert len(sentence) <= 500
    return sentence


def test_the_first_sheet_is_read_and_said():
    reading = read(TWO)
    assert (reading.report.format, reading.report.sheet, reading.report.layout) == ("xlsx", "Votes", "wide")
    assert reading.votes.learners == ("a", "b", "c")
    assert reading.source.choice.names == ("Votes", "Answers")
    said = " ".join(reading.report.sentences())
    assert "2 sheets: 'Votes', 'Answers'." in said
    assert "Excel workbook, sheet 'Votes', 3 rows and 4 columns" in said


@pytest.mark.parametrize("wish", ["Answers", "2", 2])
def test_a_sheet_is_named_or_counted(wish):
    reading = read(TWO, sheet=wish)
    assert (reading.report.layout, reading.report.sheet, reading.votes.n_rows) == ("long", "Answers", 5)


def test_cells_are_spelled_as_far_as_the_format_keeps_it():
    day, moment = datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4)
    rows = [
        ["id", "a", "when", "yes", "share", "b"],
        [1.0, "01", day, True, 0.3, 1],
        ["007", 1, moment, False, 1e-7, "01"],
        [1234567890123456789, None, None, None, None, 1],
    ]
    reading = read(workbook(Votes=rows), learners=["a", "b"])
    columns = {name: reading.source.text(name).to_pylist() for name in reading.source.columns}
    assert columns["id"][:2] == ["1", "007"]
    assert columns["a"] == ["01", "1", ""]
    assert columns["when"] == ["2024-01-02", "2024-01-02 03:04:00", ""]
    assert columns["yes"] == ["TRUE", "FALSE", ""]
    assert columns["share"] == ["0.3", "1e-07", ""]
    assert reading.votes.classes.tolist() == ["01", "1"] or set(reading.votes.classes.tolist()) == {"1", "01"}
    assert any("16 digits or more" in note.text and note.column == "id" for note in reading.report.notes)


def test_titles_and_blank_rows_are_skipped_and_counted():
    reading = read(workbook(Votes=[["Panel of May"], [], HEADER, *ROWS[:2], [], ROWS[2]]))
    assert reading.votes.n_rows == 3
    assert {"Skipped 1 line above the table.", "Skipped 1 blank line."} <= set(reading.report.sentences("changed"))


def test_an_empty_first_sheet_is_passed_over_and_said():
    reading = read(workbook(Cover=[], Votes=[HEADER, *ROWS]))
    assert reading.report.sheet == "Votes"
    assert any("'Cover' is empty" in text for text in reading.report.sentences("changed"))


def test_what_was_asked_for_and_is_not_there_gets_a_sentence_with_the_sheets():
    assert "'Votes', 'Answers'" in says(TWO, "has no sheet 'Nope'", sheet="Nope")
    says(TWO, "has no sheet '3'", sheet="3")
    says(workbook(Cover=[], Votes=[HEADER, *ROWS]), "Sheet 'Cover'", "is empty", "'Cover', 'Votes'", sheet="Cover")
    says(workbook(One=[], Two=[]), "holds only empty sheets")
    says(workbook(Votes=[HEADER]), "has a header but no rows below it")
    says(workbook(Votes=[["title"], [], ["a", "a"], ["x", "y"]]), "two columns named 'a'")
    says(b"id,a,b\n1,x,y\n2,y,y\n", "has no sheets", sheet="Votes")


def test_a_workbook_without_votes_can_be_looked_at_with_its_sheets():
    data = workbook(Words=[["who", "what"], ["ann", "said this"], ["bob", "said that"]], Votes=[HEADER, *ROWS])
    with pytest.raises(InputError) as refused:
        read(data)
    shown = sketch(data, refused.value, {})
    assert shown.source.columns == ["who", "what"]
    assert shown.choice.names == ("Words", "Votes")
    unknown = UndecidedError("no sheet", shown.choice)
    assert sketch(data, unknown, {"sheet": "Nope"}).choice.chosen is None


def test_damaged_protected_and_other_archives_are_refused():
    says(TWO[: len(TWO) // 2], "damaged")
    says(b"\xd0\xcf\x11\xe0" + bytes(600) + "EncryptedPackage".encode("utf-16-le"), "protected by a password")
    says(changed(TWO, workbook="<workbook"), "damaged")
    says(changed(TWO, sheet1=sheet_xml('<row><c r="A1><v>1</v></c></row>')), "no valid XML")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("xl/workbook.bin", b"")
    says(buffer.getvalue(), ".xlsb", "Save it as .xlsx")


def test_an_archive_of_other_files_says_what_is_inside():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("data/", b"")
        packed.writestr("data/train.parquet", b"PAR1")
    says(buffer.getvalue(), "Unpack it and use the table inside; it holds 'data/train.parquet'.")


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_formulas_without_a_saved_value_are_empty_and_said(prefix):
    sums = [[*row[:3], f"=IF(B{number}>0,1,0)"] for number, row in enumerate(ROWS, start=2)]
    data = workbook(Votes=[[*HEADER, "d"], *([*row, "cat"] for row in sums)])
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        sheet = packed.read("xl/worksheets/sheet1.xml").decode()
    assert sheet.count("<v />") == 3  # as openpyxl writes what it does not compute
    sheet = sheet.replace("<f>IF(B2&gt;0,1,0)</f><v />", '<f t="shared" si="0"/>')  # so do others
    if prefix:
        sheet = re.sub(r"<(/?)(?=[a-z])", rf"<\1{prefix}", sheet).replace("xmlns=", f"xmlns:{prefix[:-1]}=")
    reading = read(changed(data, sheet1=sheet))
    assert reading.source.text("c").to_pylist() == ["", "", ""]
    assert reading.votes.learners == ("a", "b", "d")
    (told,) = [note for note in reading.report.notes if note.kind == "warning" and note.column == "c"]
    assert told.text.startswith("Column 'c' has 3 formulas whose values were not saved: read as empty.")
    assert told.count == 3


def test_formulas_with_a_saved_value_are_that_value():
    data = workbook(Votes=[HEADER, *([*row[:3], "=B2"] for row in ROWS)])
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        sheet = packed.read("xl/worksheets/sheet1.xml").decode()
    computed = sheet.replace("<f>B2</f><v />", "<f>B2</f><v>cat</v>").replace('<c r="D', '<c t="str" r="D')
    reading = read(
        changed(data, sheet1=computed.replace('<c t="str" r="D1" t="inlineStr">', '<c r="D1" t="inlineStr">'))
    )
    assert reading.source.text("c").to_pylist() == ["cat", "cat", "cat"]
    assert not [note for note in reading.report.notes if note.column == "c"]


def test_an_open_document_is_read_with_repeated_cells():
    header, first = (ods_row(*map(ods_cell, row)) for row in (("id", "a", "b"), (1, "cat", "dog")))
    last = ods_row('<table:table-cell table:number-columns-repeated="16384"/>', times=1_048_576)
    reading = read(spreadsheet(header + first + ods_row(ods_cell(2), ods_cell("cat", times=2)) + last))
    assert reading.report.format == "ods"
    assert reading.source.text("b").to_pylist() == ["dog", "cat"]
    protected = io.BytesIO()
    with zipfile.ZipFile(protected, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr("META-INF/manifest.xml", "<m:encryption-data/>")
        packed.writestr("content.xml", b"\x00\x01")
    says(protected.getvalue(), "protected by a password")


class TestBombs:
    def test_two_far_cells_do_not_make_a_rectangle(self):
        far = sheet_xml('<row><c r="A1"><v>1</v></c></row><row><c r="XFD1048576"><v>1</v></c></row>')
        says(changed(TWO, sheet1=far), "17,179,869,184 cells", "DEEM_FILE_GB")
        says(changed(TWO, sheet1=sheet_xml('<row><c r="ZZZ9"><v>1</v></c></row>')), "damaged", "ZZZ9")

    def test_formats_without_values_take_nothing(self):
        cells = "".join(f'<c r="{place}" t="str"><v>{place}</v></c>' for place in ("A1", "B1", "A2", "B2"))
        far = sheet_xml(f'<row r="1">{cells}<c r="XFD1048576" s="1"/></row>')
        assert "17,179" not in says(changed(TWO, sheet1=far))

    def test_one_long_text_shared_by_many_cells_is_counted(self, monkeypatch):
        monkeypatch.setattr(bounds, "SMALL", 50_000)
        monkeypatch.setattr(bounds, "allowance", lambda: 60_000)
        cells = "".join(f'<row r="{at}"><c r="A{at}" t="s"><v>0</v></c></row>' for at in range(1, 101))
        shared = f"<sst><si><t>{'x' * 1000}</t></si></sst>"
        says(with_shared(TWO, sheet_xml(cells), shared), "a sheet of 100 cells")

    def test_entries_are_measured_whatever_the_archive_says(self, monkeypatch):
        monkeypatch.setattr(bounds, "SMALL_UNPACKED", 100_000)
        bomb = changed(TWO, theme1=f"<a>{' ' * 5_000_000}</a>", styles=f"<a>{' ' * 5_000_000}</a>")
        says(bomb, "zip archive", "200 times")

    def test_repeated_cells_of_an_open_document_are_counted(self):
        says(spreadsheet(ods_row(ods_cell("x", times=16_000), times=1_000_000)), "16,000,000,000 cells")

    def test_cells_without_places_are_counted_by_rows(self):
        rows = "".join("<row><c><v>1</v></c><c><v>2</v></c><c><v>1</v></c></row>" for _ in range(30))
        text = sheet_xml(rows).encode()
        assert sheet_size._xlsx("votes.xlsx", text, [], 0)[0] <= 30 * 6  # each cell counts once or twice


def with_shared(data: bytes, sheet: str, shared: str) -> bytes:
    buffer = io.BytesIO(changed(data, sheet1=sheet))
    with zipfile.ZipFile(buffer, "a") as packed:
        packed.writestr("xl/sharedStrings.xml", shared)
    return buffer.getvalue()


def test_workbooks_are_not_read_in_parts(tmp_path):
    path = tmp_path / "votes.xlsx"
    path.write_bytes(TWO)
    with pytest.raises(WholeOnlyError, match="leave --stream out"):
        open_large(path)
