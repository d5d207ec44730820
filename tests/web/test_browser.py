"""People in a browser: the whole way, two at once, back and reload, a restart, keys, no script."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import until
from web.browsing import TOKEN, XSS, Server, Visit, needs_browser, serving, write_table

pytestmark = needs_browser


@pytest.fixture
def visits(chromium: Any) -> Iterator[Any]:
    """Makes visits; at the end no page may have complained about anything."""
    made: list[Visit] = []

    def visit(server: Server, **options: Any) -> Visit:
        made.append(Visit(chromium, server, **options))
        return made[-1]

    yield visit
    for one in made:
        one.context.close()
    assert [trouble for one in made for trouble in one.troubles] == []


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server that many tests visit."""
    folder = tmp_path_factory.mktemp("people")
    write_table(folder / "people.csv", n_rows=400)
    with serving(folder, "people.csv", "--label", "buys") as server:
        yield server


def downloaded(page: Any, selector: str) -> bytes:
    with page.expect_download() as coming:
        page.click(selector)
    return Path(coming.value.path()).read_bytes()


@pytest.mark.slow
def test_the_whole_way_from_upload_to_export(visits: Any, tmp_path: Path) -> None:
    table = write_table(tmp_path / "given.csv")
    with serving(tmp_path) as server:
        visit = visits(server)
        page = visit.page
        page.goto(server.entrance)
        assert page.url.endswith("/setup")
        page.set_input_files("#table", table)
        page.click("text=Look at it")
        assert page.locator("h1").inner_text() == "given.csv"
        page.click("text=Start")
        assert "choose the label column" in page.locator("#wrong").inner_text().lower()
        page.select_option("#label", "buys")
        page.select_option("[aria-label='Kind of city']", "categorical")
        page.fill("#share", "30")
        page.click("text=Look again")
        assert page.input_value("#label") == "buys"
        assert page.input_value("#share") == "30"
        assert "Rome" in page.locator("tr", has_text="city").locator(".values").inner_text()
        page.click("text=Start")
        page.wait_for_url("**/name*")
        page.fill("#who", "Ann")
        page.press("#who", "Enter")
        page.wait_for_url("**/question*")
        visit.ready()

        first = visit.answer()
        page.locator(f"text=Row {first} is saved").wait_for()
        second = visit.row
        assert second != first
        page.click("[data-act=undo]")
        page.wait_for_url("**undone*")
        assert visit.row == first

        visit.go("/rows?sort=number&order=asc&search=age")
        line = page.locator("tbody tr", has_not_text="city").first
        number = int(re.sub(r"\D", "", line.locator("th a").inner_text()))
        line.locator("a.button").click()
        page.wait_for_url("**/question?row=*")
        page.fill("#value-0", "old")
        page.press("#value-0", "Enter")
        assert "takes a number" in page.locator("#wrong-0").inner_text()
        assert page.input_value("#value-0") == "old"
        page.fill("#value-0", "47")
        page.press("#value-0", "Enter")
        page.wait_for_url(f"**/question?saved={number}")

        visit.go(f"/rows?search={number}&state=answered")
        page.locator("tbody tr", has_text=re.compile(rf"^\s*(Row )?{number}\b")).locator(
            "text=Correct"
        ).click()
        assert "age = 47" in page.locator(".card .say").inner_text()
        page.fill("#value-0", "48")
        page.press("#value-0", "Enter")
        page.wait_for_url("**/question?saved=*")

        visit.go("/progress")
        assert "Ann" in page.locator("#people").inner_text()
        visit.go("/export")
        cleaned = downloaded(page, "[aria-labelledby=known] a >> nth=0").decode().splitlines()
        assert len(cleaned) == 91
        assert cleaned[number + 1].startswith("48,")
        assert downloaded(page, "[aria-labelledby=filled] a >> nth=1")[:4] == b"PAR1"
        log = downloaded(page, "a[href='/export/log.jsonl']").decode().splitlines()
        kinds = [json.loads(line)["kind"] for line in log]
        assert kinds == ["answer", "undo", "answer", "correction"]
        assert all(json.loads(line)["seconds"] is not None for line in log[:1])
        header, *said = downloaded(page, "a[href='/export/answers.jsonl']").decode().splitlines()
        assert json.loads(header)["cpclean"] == "answers"
        assert [json.loads(line)["row"] for line in said] == [json.loads(log[-1])["row"]] * 2


@pytest.mark.slow
def test_the_token_can_be_typed(people: Server, visits: Any) -> None:
    page = visits(people).page
    page.goto(people.url("/progress"))
    page.fill("input[name=token]", TOKEN)
    page.press("input[name=token]", "Enter")
    page.wait_for_url("**/name*")


@pytest.mark.slow
def test_a_file_can_be_dropped(visits: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        page = visits(server).page
        page.goto(server.entrance)
        handle = page.evaluate_handle(
            """() => { const data = new DataTransfer();
            const text = "a,b,y\\n1,2,0\\n,1,1\\n3,1,1\\n4,2,0\\n";
            data.items.add(new File([text], "small.csv")); return data; }"""
        )
        page.dispatch_event("[data-drop]", "drop", {"dataTransfer": handle})
        page.click("text=Look at it")
        assert page.locator("h1").inner_text() == "small.csv"
        page.select_option("#label", "y")
        page.fill("#neighbors", "77")
        page.click("text=Start")
        assert "number of training rows" in page.locator("#wrong").inner_text()
        assert page.input_value("#neighbors") == "77"


@pytest.mark.slow
def test_two_people_see_each_other_and_never_get_the_same_row(people: Server, visits: Any) -> None:
    ann, bob, eve = visits(people), visits(people), visits(people)
    ann.begin("Ann")
    bob.begin("Bob")
    eve.begin("Eve")
    watching = eve.go("/progress")
    before = int(watching.locator("[data-live=answers]").inner_text())
    rows = []
    for _ in range(3):
        assert ann.row != bob.row
        rows += [ann.answer(), bob.answer()]
    assert len(set(rows)) == 6
    until(
        watching,
        "n => Number(document.querySelector('[data-live=answers]').textContent) >= n",
        arg=before + 6,
    )
    until(watching, "document.getElementById('people').textContent.includes('Bob')")
    shown = re.compile(r"^((at most|more than) )?[\d,]+( to [\d,]+)?$")  # what is left to do
    for page in (ann.page, watching):
        assert shown.match(page.locator(".strip [data-live=to_go]").inner_text())


@pytest.mark.slow
def test_everybody_is_told_when_they_can_stop(visits: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "small.csv", n_rows=30, seed=4)
    with serving(tmp_path, "small.csv", "--label", "buys", "--val-share", "0.3") as server:
        ann, bob = visits(server), visits(server)
        waiting = bob.begin("Bob")
        assert not waiting.locator("#stop").is_visible()
        page = ann.begin("Ann")
        for _ in range(60):  # twice as many as there are rows, in whatever order they are asked
            if waiting.locator("#stop").is_visible():
                break
            if page.locator("#asked").count():
                ann.answer()
            elif page.get_by_role("heading", name="All open questions are assigned").count():
                ann.go("/rows?state=held")
                if not page.locator("tbody a.button").count():  # answered in the meantime
                    ann.go("/question")
                    continue
                page.locator("tbody a.button").first.click()
                page.locator("text=Bob has this row open").wait_for()
                ann.answer()
            else:  # all is answered, and Bob is about to be told
                page.wait_for_timeout(500)
                ann.go("/question")
            ann.ready()
        waiting.locator("#stop").wait_for(state="visible")
        assert "You can stop now" in waiting.locator("#stop").inner_text()
        ann.go("/question")
        page.get_by_role("heading", name=re.compile("You can stop now: every")).wait_for()


@pytest.mark.slow
def test_reload_back_and_double_click_say_nothing_twice(people: Server, visits: Any) -> None:
    visit = visits(people)
    page = visit.begin("Rita")
    row = visit.row
    page.reload()
    assert visit.row == row
    visit.answer()
    after = visit.row
    page.reload()  # of the page after the redirect: nothing is sent again
    assert visit.row == after
    page.go_back()
    page.wait_for_load_state("load")
    assert visit.row == after  # asked for anew: the answered row is not offered again
    target = page.locator("[data-act=skip]")
    with page.expect_navigation(url="**/question?skipped=*"):
        target.dblclick()
    visit.go("/progress")
    line = page.locator("#people tr", has_text="Rita")
    line.wait_for()
    page.wait_for_timeout(500)
    assert line.locator("td").all_inner_texts()[:2] == ["1", "1"]


@pytest.mark.slow
def test_the_server_is_restarted_in_the_middle(visits: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "people.csv")
    with serving(tmp_path, "people.csv", "--label", "buys") as server:
        port = server.port
        visit = visits(server)
        page = visit.begin("Ann")
        saved = visit.answer()
        asked = visit.row
    page.locator("#away").wait_for(state="visible")
    visit.troubles.clear()  # the browser remarks on lost connections
    with serving(tmp_path, "people.csv.cpclean.db", port=port):
        page.locator("#away").wait_for(state="hidden")
        assert visit.answer() == asked  # the page that was open still counts
        visit.ready()
        visit.go("/rows?state=answered")
        page.locator("tbody tr >> nth=1").wait_for()
        found = page.locator("tbody th a").all_inner_texts()
        assert {int(re.sub(r"\D", "", one)) for one in found} == {saved, asked}
    visit.troubles.clear()


def events_of(visit: Visit) -> list[dict[str, Any]]:
    """The whole log."""
    answer = visit.page.request.get(visit.server.url("/export/log.jsonl"))
    return [json.loads(line) for line in answer.text().splitlines()]


@pytest.mark.slow
def test_an_answer_waits_for_a_server_that_is_gone(visits: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "people.csv")
    with serving(tmp_path, "people.csv", "--label", "buys") as server:
        port = server.port
        visit = visits(server)
        page = visit.begin("Ann")
        row = visit.open_single()
    until(page, "cpclean.lost")
    page.fill("#value-0", "47")
    page.press("#value-0", "Enter")
    page.locator("#held").wait_for(state="visible")
    assert "What you entered is still here" in page.locator("#held").inner_text()
    page.press("#value-0", "Enter")  # impatient
    page.fill("#value-0", "48")  # and on second thoughts
    page.press("#value-0", "Enter")
    page.wait_for_timeout(1500)  # it is tried again, and again in vain
    assert page.locator("#held").is_visible()
    assert page.input_value("#value-0") == "48"
    with serving(tmp_path, "people.csv.cpclean.db", port=port):
        page.wait_for_url(f"**/question?saved={row}")
        visit.ready()
        assert not page.locator("#held").is_visible()
        (event,) = events_of(visit)
        assert (event["who"], event["value"]) == ("Ann", {"age": 48})
        assert event["seconds"] < 60


@pytest.mark.slow
def test_an_answer_waits_until_a_new_server_knows_who_it_is(visits: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "people.csv")
    with serving(tmp_path, "people.csv", "--label", "buys") as server:
        port = server.port
        visit = visits(server)
        page = visit.begin("Ann")
        row = visit.row
    until(page, "cpclean.lost")
    with serving(tmp_path, "people.csv.cpclean.db", port=port, token="another-token"):
        page.keyboard.press("Escape")
        page.keyboard.press("s")
        until(
            page, "document.getElementById('held').textContent.includes('does not recognize you')"
        )
        other = visit.context.new_page()
        other.goto(server.url("/?token=another-token"))
        page.wait_for_timeout(1500)  # let in, but without a name
        assert page.locator("#held").is_visible()
        other.fill("#who", "Ann")
        other.press("#who", "Enter")
        page.wait_for_url(f"**/question?skipped={row}")
        assert [(one["kind"], one["who"]) for one in events_of(visit)] == [("skip", "Ann")]


@pytest.mark.slow
def test_an_answer_is_not_sent_to_another_table(visits: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "people.csv")
    write_table(tmp_path / "others.csv", seed=5)
    with serving(tmp_path, "people.csv", "--label", "buys") as server:
        port = server.port
        visit = visits(server)
        page = visit.begin("Ann")
        row = visit.row
    until(page, "cpclean.lost")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.locator("#held").wait_for(state="visible")
    with serving(tmp_path, "others.csv", "--label", "buys", port=port):
        until(page, "document.getElementById('held').textContent.includes('another table')")
        page.wait_for_timeout(1500)
        assert events_of(visit) == []
    with serving(tmp_path, "people.csv.cpclean.db", port=port):
        page.wait_for_url(f"**/question?skipped={row}")
        assert [(one["kind"], one["who"]) for one in events_of(visit)] == [("skip", "Ann")]


@pytest.mark.slow
def test_what_was_stopped_can_be_sent_again(people: Server, visits: Any) -> None:
    visit = visits(people)
    page = visit.begin("Stan")
    row = visit.row
    people.process.send_signal(signal.SIGSTOP)
    try:
        page.click("[data-act=skip]", no_wait_after=True)
        page.wait_for_timeout(500)
        visit.context.new_cdp_session(page).send("Page.stopLoading")  # as Esc does
        page.wait_for_timeout(1000)
    finally:
        people.process.send_signal(signal.SIGCONT)
    page.click("[data-act=skip]")
    page.wait_for_url(f"**/question?skipped={row}")
    assert [one["kind"] for one in events_of(visit) if one["who"] == "Stan"] == ["skip"]


@pytest.mark.slow
def test_many_pages_of_one_browser_share_a_stream(people: Server, visits: Any) -> None:
    visit = visits(people)
    page = visit.begin("Tab")
    watching = []
    for _ in range(7):  # a browser has six connections to one server
        watching.append(visit.context.new_page())
        watching[-1].goto(people.url("/progress"))
    before = int(watching[-1].locator("[data-live=answers]").inner_text())
    page.bring_to_front()
    visit.answer()
    for one in watching:
        script = "n => Number(document.querySelector('[data-live=answers]').textContent) > n"
        until(one, script, before)
    page.close()  # whichever of them listens: the others go on
    watching[0].close()
    visit.page = watching[1]
    visit.go("/question")
    visit.ready()
    visit.answer()
    until(watching[2], script, before + 1)


@pytest.mark.slow
def test_keys_alone_are_enough(people: Server, visits: Any) -> None:
    visit = visits(people)
    page = visit.begin("Kay")
    row = visit.open_single()
    assert page.evaluate("document.activeElement.id") == "value-0", "the value comes first"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator(".help-in").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator(".help-in").is_visible()
    page.keyboard.press("v")
    page.keyboard.type("46")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/question?saved={row}")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.wait_for_url("**undone*")
    assert visit.row == row
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.wait_for_url(f"**/question?skipped={row}")
    visit.open_single()
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    assert page.evaluate("document.activeElement.id") == "value-0"
    page.keyboard.type("12s?u")  # in a field, keys are letters
    assert page.input_value("#value-0") == "12s?u"
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")  # also when one has left the field
    page.locator("#wrong-0").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    ring = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(ring) == "solid"
    visit.go("/progress")
    until(page, "document.querySelector('#plot polyline.s2') !== null")  # it is worked out
    page.locator("#plot").focus()
    page.keyboard.press("End")
    assert "expected" in page.locator(".reading").inner_text()
    page.keyboard.press("Home")
    assert page.locator(".reading").inner_text().startswith("After 0 rows")


@pytest.mark.slow
def test_without_script(people: Server, visits: Any) -> None:
    visit = visits(people, java_script_enabled=False)
    page = visit.page
    page.goto(people.entrance)
    page.fill("#who", "Plain")
    page.press("#who", "Enter")
    page.wait_for_url("**/question*")
    visit.ready()
    row = visit.answer()
    assert f"Row {row} is saved" in page.locator("main").inner_text()
    page.click("[data-act=undo]")
    assert visit.row == row
    page.click("[data-act=skip]")
    page.wait_for_url("**skipped*")
    row = visit.open_single()
    page.click(".rough summary")
    page.locator(".ranges input >> nth=1").check()
    page.click(".more summary")
    page.fill("#comment", XSS)
    page.click("[data-act=save]")
    page.wait_for_url(f"**/question?saved={row}&roughly=1")
    assert "saved as a rough answer" in page.locator("main").inner_text()
    visit.go("/progress")
    assert page.locator("#still svg").first.is_visible()
    assert "certain predictions" in page.locator("#still svg").first.text_content()
    visit.go("/rows")
    page.select_option("#state", "open")
    page.click("text=Show")
    assert "state=open" in page.url
    page.locator("tbody a.button").first.click()
    assert visit.row >= 0


@pytest.mark.slow
def test_text_of_people_is_only_ever_text(visits: Any, tmp_path: Path) -> None:
    write_table(tmp_path / "bad.csv", age=f"age{XSS}", income="{{7*7}}", city=f"Rome{XSS}")
    with serving(tmp_path, "bad.csv", "--label", "buys") as server:
        for script in (True, False):
            name = f"{'with' if script else 'no'} {XSS}"[:60]
            stays_text(visits(server, java_script_enabled=script), name)


def stays_text(visit: Visit, name: str) -> None:
    """Whatever people type, and whatever columns are called, no page takes it for its own."""
    page = visit.page
    page.goto(visit.server.entrance)
    page.fill("#who", name)
    page.press("#who", "Enter")
    page.wait_for_url("**/question*")
    visit.ready()  # without script the page looks again by itself, too
    row = visit.answer()
    for path in ("/question", "/progress", "/rows", f"/rows?search={XSS}", "/export", "/name"):
        visit.go(path)
        page.wait_for_timeout(150)
        assert "owned" not in page.title()
        assert page.locator("main img, main script").count() == 0
    visit.go(f"/rows?search={row}")
    assert XSS[:30] in page.locator("tbody").inner_text()
    visit.go("/question")
    assert "{{7*7}}" in page.locator(".cells").first.inner_text()
