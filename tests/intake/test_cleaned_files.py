"""Cleaned files: known cells are written, everything else stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamed_files import as_arrow, mixed_frame, write_parquet

from cpclean import CleaningSession, StreamedTable
from cpclean.data.columns import OTHER
from cpclean.errors import TableError
from cpclean.intake.cleaned_files import write_files

FRAME = mixed_frame(0, 60)
KNOWN = {
    3: {"grade": 41.0, "city": "Köln"},
    5: {"since": pd.Timestamp("2020-03-04").to_pydatetime(), "member": True},
    58: {"size": -2.5, "city": OTHER},
}


def test_parquet_files_keep_schema_and_row_groups(tmp_path: Path) -> None:
    files = write_parquet(FRAME, tmp_path, 3, 8)
    table, out = StreamedTable(files, "y"), tmp_path / "out"
    written = write_files(table.files, table.columns, KNOWN, out)
    assert [path.name for path in written] == [Path(file).name for file in files]
    assert written[1].read_bytes() == Path(files[1]).read_bytes()  # nothing is known of it
    for old, new in zip(files, written, strict=True):
        before, after = pq.ParquetFile(old), pq.ParquetFile(new)
        assert after.schema_arrow.equals(before.schema_arrow, check_metadata=True)
        groups = range(before.metadata.num_row_groups)
        assert [after.metadata.row_group(one).num_rows for one in groups] == [
            before.metadata.row_group(one).num_rows for one in groups
        ]
        kind = before.metadata.row_group(0).column(0).compression
        assert after.metadata.row_group(0).column(0).compression == kind
    expected = as_arrow(FRAME).to_pylist()
    for row, cells in KNOWN.items():
        expected[row] |= {name: value for name, value in cells.items() if value is not OTHER}
    assert pa.concat_tables([pq.read_table(path) for path in written]).to_pylist() == expected
    assert sorted(path.name for path in out.iterdir()) == sorted(Path(one).name for one in files)


def test_text_files_keep_every_other_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cpclean.data.streamed.text_parts.PART_BYTES", 300)
    lines = ["\ufeffage;x,city,y"]
    lines += [f'{one},"C {one % 3}",{"no" if one % 4 else "yes"}' for one in range(60)]
    lines[31], lines[58] = ',"one, two",yes', '57,"",no'
    content = "\r\n".join(lines).encode() + b"\r\n\r\n"
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    table = StreamedTable(path, "y")
    assert len(table.pieces) > 2
    (written,) = write_files(
        table.files, table.columns, {30: {"age;x": 41}, 57: {"city": "Ulm"}}, tmp_path / "out"
    )
    expected = content.replace(b'\r\n,"one, two"', b'\r\n41,"one, two"')
    assert written.read_bytes() == expected.replace(b'57,"",', b'57,"Ulm",')
    (same,) = write_files(table.files, table.columns, {}, tmp_path / "same")
    assert same.read_bytes() == content


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    frame = FRAME.assign(whole=range(len(FRAME)))
    (file,) = write_parquet(frame, tmp_path, 1)
    table = StreamedTable(file, "y")
    with pytest.raises(TableError, match=r"41.5 of row 7, column 'whole', does not fit .*int64"):
        write_files(table.files, table.columns, {7: {"whole": 41.5}}, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    with pytest.raises(TableError, match="must be in another folder than the original"):
        write_files(table.files, table.columns, KNOWN, tmp_path)
    with pytest.raises(TableError, match=r"need a folder; .*part-0.parquet' is a file"):
        write_files(table.files, table.columns, KNOWN, file)
    write_files(table.files, table.columns, KNOWN, tmp_path / "out")
    with pytest.raises(TableError, match="is there already"):
        write_files(table.files, table.columns, KNOWN, tmp_path / "out")
    Path(file).write_bytes(Path(file).read_bytes()[:-1])
    with pytest.raises(TableError, match=r"cannot be read as Parquet|has changed"):
        write_files(table.files, table.columns, KNOWN, tmp_path / "third")


_FULL = """
import resource, sys, signal
from pathlib import Path
from cpclean import StreamedTable
from cpclean.errors import CPCleanError
from cpclean.intake.cleaned_files import write_files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # files cannot grow: as on a full disk
file, out = sys.argv[1:]
table = StreamedTable(file, "y")
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    write_files(table.files, table.columns, {3: {"grade": 41.0}}, out)
except CPCleanError as problem:
    print(problem, sorted(path.name for path in Path(out).iterdir()))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of files")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_full_disk_leaves_the_original(kind: str, tmp_path: Path) -> None:
    frame = mixed_frame(1, 400)
    if kind == "csv":
        frame.to_csv(tmp_path / "a.csv", index=False)
        file = str(tmp_path / "a.csv")
    else:
        (file,) = write_parquet(frame, tmp_path, 1)
    before = Path(file).read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", _FULL, file, str(tmp_path / "out")],
        capture_output=True, text=True, check=False, env=os.environ,
    )  # fmt: skip
    assert "could not be written: " in done.stdout, done.stderr
    assert "The original files are as they were" in done.stdout
    assert done.stdout.rstrip().endswith("[]")
    assert Path(file).read_bytes() == before


def test_the_original_is_never_written_to_by_whatever_name(tmp_path: Path) -> None:
    place = tmp_path / "parts"
    place.mkdir()
    table = StreamedTable(write_parquet(FRAME, place), "y")
    (tmp_path / "link").symlink_to(place)
    before = [path.read_bytes() for path in sorted(place.iterdir())]
    for folder in (place, tmp_path / "parts" / ".." / "parts", tmp_path / "link"):
        with pytest.raises(TableError, match="must be in another folder than the original"):
            write_files(table.files, table.columns, KNOWN, folder, over=True)
    assert [path.read_bytes() for path in sorted(place.iterdir())] == before


def test_a_session_writes_what_it_knows(tmp_path: Path) -> None:
    table = StreamedTable(write_parquet(FRAME, tmp_path), "y")
    points = as_arrow(mixed_frame(3, 4).drop(columns="y"))
    session = CleaningSession(table, points)
    row = int(session.ask().row)
    session.tell(row, value={"grade": 2.0})
    written = session.write(tmp_path / "out")
    again = StreamedTable(written, "y")
    assert again.row(row) == {**table.row(row), "grade": 2.0}
    assert again.n_rows == table.n_rows
