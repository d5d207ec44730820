"""The space on the pages: chosen in the set-up, and said where people look."""

import html
import re

import pytest
from web.browsing import TOKEN
from web.test_setup_pages import SMALL, bare, draft_id, upload
from web.visiting import TestClient, desk_of, post

from cpclean.analysis.space_words import GIVEN_THE_SPACE
from cpclean.cli import options
from cpclean.web.pages import drafts

__all__ = ["TOKEN", "bare"]  # a fixture


@pytest.fixture(autouse=True)
def usual_space() -> None:
    """As users have it."""


def test_terminal_and_page_agree() -> None:
    assert drafts.USUAL_SPACE == options.USUAL_SPACE == "forest"
    assert sorted(name for name, _, _ in drafts.SPACES) == sorted(options.SPACES)


def started(client: TestClient, **sent: str) -> str:
    """Set up a project, and return what the page on progress says of the space."""
    draft = draft_id(upload(client, SMALL).text)
    given = {"label": "y", "share": "20", "target": "100", "answers": "1", "neighbors": ""}
    response = post(client, "/setup", **{**given, **sent, "draft": draft, "step": "start"})
    assert response.headers["location"] == "/question", response.text
    post(client, "/name", who="Ann", next="/progress")
    desk_of(client).ready()
    page = html.unescape(client.get("/progress").text)
    found = re.search(r'<p class="note" id="space">(.*?)</p>', page)
    assert found
    return found[1]


def test_each_space_has_a_sentence(bare: TestClient) -> None:
    page = upload(bare, SMALL).text
    for name, words, says in drafts.SPACES:
        checked = " checked" if name == "forest" else ""
        assert f'name="space" value="{name}"{checked}> <span>{words}<span class="hint">' in page
        assert says in page


@pytest.mark.parametrize(
    ("sent", "kind", "k", "words"),
    [
        ({}, "forest", 15, "leaves of a forest of 100 trees, 15 neighbours."),
        ({"space": "random"}, "random", 15, "leaves of 100 trees with random splits, 15"),
        ({"space": "forest", "neighbors": "1"}, "forest", 1, "of 100 trees, 1 neighbour."),
        ({"space": "plain"}, None, 3, "scaled columns, 3 neighbours."),
    ],
)
def test_the_chosen_space_is_used_and_said(
    bare: TestClient, sent: dict[str, str], kind: str | None, k: int, words: str
) -> None:
    told = started(bare, **sent)
    project = desk_of(bare).project
    assert (project.table.leaves and project.table.leaves.kind) == kind
    assert project.settings.model.n_neighbors == k
    assert words.lower() in told.lower()
    assert (GIVEN_THE_SPACE in told) == (kind is not None)


def test_a_table_that_is_too_small_is_noticed_before_it_starts(bare: TestClient) -> None:
    page = upload(bare, SMALL[: SMALL.index(b"\n30,") + 1]).text
    assert "24 rows are too few for the leaves of trees, which need 30" in page
    assert "too few for the leaves" not in upload(bare, SMALL).text
