"""What is said about the columns while nothing is known about them: which of several reasons."""

import re
import threading

import pytest
from waiting import until
from web.tables import small_project
from web.visiting import site_over

from cpclean.web.desk import column_looks


@pytest.fixture
def card(monkeypatch):
    """The card of the columns on the page, with another way to look at them."""
    sites = []

    def shown(look):
        monkeypatch.setattr(column_looks, "effects_in_session", look)
        sites.append(site_over(small_project()))
        client = next(sites[-1])

        def text():
            page = client.get("/progress").text
            part = page[page.index('id="columns-title"') :]
            return " ".join(re.sub(r"<[^>]+>", " ", part[: part.index("</section>")]).split())

        return text

    yield shown
    for site in sites:
        site.close()


def test_while_it_is_worked_out(card):
    going = threading.Event()

    def slowly(view):
        going.wait(20)
        return []

    text = card(slowly)
    try:
        assert "This is being worked out." in text()
        assert "30 seconds" not in text()
    finally:
        going.set()
    until(lambda: "would take more than 30 seconds" in text(), "it is known that it takes long")
    assert "being worked out" not in text()


def test_if_it_fails(card):
    def fails(view):
        raise ZeroDivisionError

    text = card(fails)
    until(lambda: "could not be worked out; the log of the server says why" in text())
