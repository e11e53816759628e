"""Make the small files of other programs' formats.

Run ``python sample_data/formats/make_formats.py [-o FOLDER]`` from the project's folder; without FOLDER the samples are
replaced. All but the judges hold the same votes: five annotators sort 120 messages into ham and spam, and a sixth of
their votes is missing. Everything is simulated.
"""

from __future__ import annotations

import argparse
import io
import json
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pyarrow as pa

HERE = Path(__file__).resolve().parent

SEED = 5
N_ROWS = 120
SKILLS = {"ana": 0.92, "bo": 0.88, "cy": 0.8, "dee": 0.75, "eli": 0.6}
MISSING = 1 / 6
CLASSES = ("ham", "spam")
JUDGES = {"judge-large": (0.9, 0.1, 1.0), "judge-small": (0.75, 0.45, 0.9), "judge-old": (0.7, 0.3, 0.2)}
"""Judge → how often it is right, how often order decides, and how often the first place wins then."""
N_PAIRS = 200


def votes() -> tuple[np.ndarray, np.ndarray]:
    """Return votes (n, d), -1 where there is none, and the truth (n,)."""
    rng = np.random.default_rng(SEED)
    truth = rng.integers(0, 2, N_ROWS)
    right = rng.random((N_ROWS, len(SKILLS))) < np.array(list(SKILLS.values()))
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    codes[rng.random(codes.shape) < MISSING] = -1
    return codes, truth


def table() -> list[list[str]]:
    """Return the votes as rows of text, the header first."""
    codes, truth = votes()
    words = np.array([*CLASSES, ""], object)
    rows = [[f"m{at:03d}", *words[row], CLASSES[truth[at]]] for at, row in enumerate(codes)]
    return [["id", *SKILLS, "label"], *rows]


# ---------------------------------------------------------------------- a workbook


def workbook() -> bytes:
    """Return a workbook: a sheet of notes, and the votes on the second one."""
    notes = [["Message", "What it says"], ["About", "Votes of May. The table is on the next sheet."]]
    sheets = {"About": notes, "Votes": table()}
    listed = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(sheets, 1))
    space = "http://schemas.openxmlformats.org"
    relations = f'xmlns="{space}/package/2006/relationships"'
    linked = "".join(
        f'<Relationship Id="rId{at}" Type="{space}/officeDocument/2006/relationships/worksheet" '
        f'Target="worksheets/sheet{at}.xml"/>'
        for at in range(1, len(sheets) + 1)
    )
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{at}.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for at in range(1, len(sheets) + 1)
    )
    entries = {
        "[Content_Types].xml": f'<Types xmlns="{space}/package/2006/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        f"{types}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{space}/package/2006/relationships"><Relationship Id="rId1" '
        f'Type="{space}/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{space}/spreadsheetml/2006/main" '
        f'xmlns:r="{space}/officeDocument/2006/relationships"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships {relations}>{linked}</Relationships>",
    }
    for at, rows in enumerate(sheets.values(), 1):
        cells = "".join(f'<row r="{n}">{"".join(_cells(row, n))}</row>' for n, row in enumerate(rows, 1))
        entries[f"xl/worksheets/sheet{at}.xml"] = (
            f'<worksheet xmlns="{space}/spreadsheetml/2006/main"><sheetData>{cells}</sheetData></worksheet>'
        )
    return _zipped({name: f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode() for name, text in entries.items()})


def _cells(row: list[str], number: int) -> list[str]:
    return [
        f'<c r="{chr(65 + at)}{number}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
        for at, cell in enumerate(row)
        if cell
    ]


def _zipped(entries: dict[str, bytes]) -> bytes:
    """Return an archive that holds no time of its making."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_STORED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, content)
    return buffer.getvalue()


# ---------------------------------------------------------------------- exports


def label_studio() -> bytes:
    """Return the votes as tasks of Label Studio, some annotations cancelled."""
    tasks = []
    for number, (name, *labels, truth) in enumerate(table()[1:], start=1):
        annotations = [
            {"completed_by": who, "was_cancelled": False, "ground_truth": False, "result": _chosen(label)}
            for who, label in enumerate(labels, start=1)
            if label
        ]
        if number % 20 == 0:
            annotations.append({"completed_by": 1, "was_cancelled": True, "ground_truth": False, "result": []})
        if number % 4 == 0:
            annotations.append(
                {"completed_by": 9, "was_cancelled": False, "ground_truth": True, "result": _chosen(truth)}
            )
        tasks.append({"id": number, "data": {"text": f"Message {name}"}, "annotations": annotations, "predictions": []})
    return _lines(tasks)


def _chosen(label: str) -> list[dict[str, object]]:
    return [{"from_name": "kind", "to_name": "text", "type": "choices", "value": {"choices": [label]}}]


def argilla() -> bytes:
    """Return the votes as records of Argilla."""
    header, *rows = table()
    records = [
        {
            "id": name,
            "fields": {"text": f"Message {name}"},
            "metadata": {"kind": truth},
            "suggestions": {},
            "responses": {
                "kind": [
                    {"value": label, "user_id": who} for who, label in zip(header[1:], labels, strict=False) if label
                ]
            },
        }
        for name, *labels, truth in rows
    ]
    return _lines(records)


def wrench() -> bytes:
    """Return the votes as rows of WRENCH."""
    codes, truth = votes()
    rows = {
        str(at): {"label": int(truth[at]), "weak_labels": row.tolist(), "data": {"text": f"Message m{at:03d}"}}
        for at, row in enumerate(codes)
    }
    lines = ",\n".join(f'"{at}": {json.dumps(row)}' for at, row in rows.items())
    return f"{{{lines}}}\n".encode()


def matrix() -> bytes:
    """Return the votes as a matrix of NumPy, with the truth beside it."""
    codes, truth = votes()
    arrays = {"L": codes.astype("<i1"), "Y": truth.astype("<i1"), "names": np.array(list(SKILLS), "<U8")}
    return _zipped({f"{name}.npy": _npy(array) for name, array in arrays.items()})


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0))
    return buffer.getvalue()


def dataset() -> dict[str, bytes]:
    """Return the votes as Hugging Face saves a dataset, by file."""
    codes, truth = votes()
    columns = {name: pa.array(codes[:, j], pa.int64(), mask=codes[:, j] < 0) for j, name in enumerate(SKILLS)}
    made = pa.table({"id": [f"m{at:03d}" for at in range(N_ROWS)], **columns, "label": pa.array(truth, pa.int64())})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, made.schema) as writer:
        writer.write_table(made)
    kinds = {name: {"names": list(CLASSES), "_type": "ClassLabel"} for name in (*SKILLS, "label")}
    features = {"id": {"dtype": "string", "_type": "Value"}, **kinds}
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_indices_files": None, "_split": None}
    return {
        "dataset/data-00000-of-00001.arrow": sink.getvalue(),
        "dataset/dataset_info.json": f"{json.dumps({'features': features}, indent=1)}\n".encode(),
        "dataset/state.json": f"{json.dumps(state, indent=1)}\n".encode(),
    }


def judges() -> bytes:
    """Return three judges, each asked in both orders, and two people."""
    rng = np.random.default_rng(SEED)
    truth = rng.integers(0, 2, N_PAIRS)
    header, columns = ["id"], []
    for name, (skill, swayed, first) in JUDGES.items():
        header += [f"{name}/ab", f"{name}/ba"]
        seen = np.where(rng.random(N_PAIRS) < skill, truth, 1 - truth)
        by_order, front = rng.random(N_PAIRS) < swayed, rng.random(N_PAIRS) < first
        columns += [np.where(by_order, np.where(front, 0, 1), seen), np.where(by_order, np.where(front, 1, 0), seen)]
    for name, skill in {"ana": 0.8, "bo": 0.75}.items():
        header.append(name)
        columns.append(np.where(rng.random(N_PAIRS) < skill, truth, 1 - truth))
    header.append("label")
    rows = np.array(["A", "B"])[np.column_stack([*columns, truth])]
    return "\n".join([",".join(header), *(f"q{at:03d},{','.join(row)}" for at, row in enumerate(rows)), ""]).encode()


def _lines(records: list[dict[str, object]]) -> bytes:
    return ("[" + ",\n".join(json.dumps(record) for record in records) + "]\n").encode()


def made() -> dict[str, bytes]:
    """Return all files by name."""
    return {
        "messages.xlsx": workbook(),
        "messages_label_studio.json": label_studio(),
        "messages_argilla.json": argilla(),
        "messages_wrench.json": wrench(),
        "messages.npz": matrix(),
        **dataset(),
        "judges_both_orders.csv": judges(),
    }


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=HERE, metavar="FOLDER")
    folder = parser.parse_args().output
    for name, content in made().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
