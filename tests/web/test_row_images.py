"""Pictures of rows: shown from beneath the folder of the table, and nothing else is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from web.conftest import TestClient
from web.served import TOKEN

from cpclean.cli import main
from cpclean.errors import TableError, UnknownRowError
from cpclean.web.desk import row_images
from cpclean.web.desk.row_images import chosen_image, content_of, image_of
from cpclean.web.server.app import make_app

PNG = b"\x89PNG\r\n\x1a\n" + b"rest of a picture"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """table/scans/a.png, beside secret.png which is not beneath the table's folder."""
    (tmp_path / "secret.png").write_bytes(PNG)
    here = tmp_path / "table"
    (here / "scans").mkdir(parents=True)
    (here / ".hidden").mkdir()
    for name in ("scans/a.png", "scans/b.JPG", ".hidden/a.png", "scans/no.png", "scans/c.svg"):
        (here / name).write_bytes(PNG)
    (here / "scans/b.JPG").write_bytes(b"\xff\xd8\xff\xe0")
    (here / "scans/no.png").write_bytes(b"<html><script>alert(1)</script>")
    (here / "train.csv").write_text("x")
    os.symlink(tmp_path / "secret.png", here / "out.png")
    os.symlink(tmp_path, here / "up")
    os.symlink(here / "train.csv", here / "table.png")
    os.symlink(here / "scans" / "a.png", here / "in.png")
    os.symlink(here / "ring.png", here / "ring.png")
    os.mkfifo(here / "pipe.png")
    return here


@pytest.mark.parametrize("cell", ["scans/a.png", " scans/a.png ", "in.png", "./scans/a.png"])
def test_pictures_beneath_the_folder_are_shown(folder: Path, cell: str) -> None:
    assert content_of(cell, folder) == (PNG, "image/png")
    assert image_of(cell, folder) == row_images.RowImage("a.png")
    assert content_of("scans/b.JPG", folder)[1] == "image/jpeg"


@pytest.mark.parametrize(
    "cell",
    [
        "../secret.png", "scans/../../secret.png", "/etc/passwd", "/etc/hostname.png", "out.png",
        "up/secret.png", "table.png", "ring.png", "pipe.png", "scans/c.svg", "train.csv", "scans",
        ".hidden/a.png", "..\\secret.png", "C:/secret.png", "file:///etc/passwd", "javascript:x",
        "scans/a.png\0", "scans/a\n.png", "", "~/a.png", "x" * 4000 + ".png", None, 3.5, b"a.png",
        "%2e%2e/secret.png", "data:image/png;base64,AA==", "http:///nowhere.png",
    ],
)  # fmt: skip
def test_nothing_else_is_shown(folder: Path, cell: Any) -> None:
    assert image_of(cell, folder) is None
    with pytest.raises(UnknownRowError, match="no picture that can be shown"):
        content_of(cell, folder)


def test_files_are_what_they_are_called_and_not_too_large(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnknownRowError, match="no picture that can be shown"):
        content_of("scans/no.png", folder)
    monkeypatch.setattr(row_images, "LARGE", len(PNG) - 1)
    assert image_of("scans/a.png", folder).large
    monkeypatch.setattr(row_images, "MOST_BYTES", len(PNG) - 1)
    assert image_of("scans/a.png", folder) is None
    assert image_of("scans/a.png", None) is None


def test_addresses_are_links_and_are_never_fetched(folder: Path) -> None:
    found = image_of("https://pictures.example/x/a.png?b=1", folder)
    assert (found.name, found.link) == ("a.png", "https://pictures.example/x/a.png?b=1")
    with pytest.raises(UnknownRowError, match="no picture that can be shown"):
        content_of("https://pictures.example/x/a.png", folder)


def test_the_column_must_be_there(folder: Path) -> None:
    assert chosen_image(" ", ["a"], folder) == {}
    with pytest.raises(TableError, match="pictures cannot be named by 'scan': the table has no"):
        chosen_image("scan", ["a", "b"], folder)


def test_on_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From `cpclean serve --image` to the browser, and nobody without the token."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.integers(0, 20, 30).astype(float), "age": range(30)})
    frame["y"] = np.where(rng.random(30) < 0.5, "yes", "no")
    frame.loc[:8, "size"] = np.nan
    frame["scan"] = [["scans/a.png", "up/secret.png", None][n % 3] for n in range(30)]
    frame.to_csv(folder / "train.csv", index=False)
    frame.iloc[10:15].to_csv(folder / "val.csv", index=False)
    kept: list[Any] = []
    monkeypatch.setattr("cpclean.web.server.process.run", lambda one, *_, **__: kept.append(one))
    given = [str(folder / "train.csv"), "--label", "y", "--val", str(folder / "val.csv")]
    options = ["--space", "plain", "--drop", "scan", "--image", "scan", "--storage", "memory://"]
    done = CliRunner().invoke(main, ["serve", *given, *options])
    assert done.exit_code == 0, done.output
    with kept[0] as storage:
        app = make_app(storage, TOKEN)
        app.state.cpclean.desk.ready()
        with TestClient(app, "http://127.0.0.1:8421") as site:
            assert site.get("/image?row=0", follow_redirects=False).status_code in (303, 401, 403)
            site.get(f"/?token={TOKEN}")
            page = site.get("/name").text
            csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
            site.post("/name", data={"who": "Ann", "csrf": csrf})
            shown = site.get("/question?row=0").text
            assert '<img src="/image?row=0" alt="a.png, the picture of' in shown
            picture = site.get("/image?row=0")
            assert (picture.content, picture.headers["content-type"]) == (PNG, "image/png")
            assert picture.headers["x-content-type-options"] == "nosniff"
            for row in (1, 2):  # a link that leads out; no cell
                assert "<img" not in site.get(f"/question?row={row}").text
                assert site.get(f"/image?row={row}").status_code == 404
            for wrong in ("?row=-1", "?row=9999", "", "?row=../../etc/passwd", "?row=20"):
                assert site.get(f"/image{wrong}").status_code == 404
        app.state.cpclean.close()
