"""The JSON API, its description, and Label Studio."""

import json
import uuid

import pytest

from cpclean.errors import FullError, GoneError, LockedError


def said(client, path, **body):
    return client.post(f"/api/{path}", json=body)


def test_a_round(client, app):
    desk = app.state.cpclean.desk
    asked = client.get("/api/question", params={"who": "Ann"}).json()
    question = asked["question"]
    assert not asked["done"]
    assert question["row"] == desk.project.session().ask().row
    taken = said(
        client, "answer", who="Ann", row=question["row"], candidate=1, seconds=3, next=True,
        request_id=uuid.uuid4().hex,
    ).json()  # fmt: skip
    assert taken["kind"] == "answer"
    assert taken["next"]["question"]["row"] != question["row"]
    second = taken["next"]["question"]["row"]
    assert said(client, "skip", who="Ann", row=second).json()["kind"] == "skip"
    undone = said(client, "undo", who="Ann").json()
    assert (undone["kind"], undone["row"]) == ("undo", second)
    desk.ready()
    progress = client.get("/api/progress").json()
    assert progress["answers"] == 1
    assert progress["people"][0]["name"] == "Ann"
    rows = client.get("/api/rows", params={"state": "answered"}).json()
    assert [one["row"] for one in rows["rows"]] == [question["row"]]


def test_exports(client, app):
    said(client, "answer", who="Ann", row=1, candidate=2)
    app.state.cpclean.desk.ready()
    table = client.get("/api/export")
    assert table.headers["content-type"].startswith("text/csv")
    assert table.text.splitlines()[2].startswith("20")
    assert (
        client.get("/api/export", params={"format": "json", "fill": "likely"}).json()[1]["size"]
        == 20
    )
    lines = client.get("/api/export", params={"what": "log"}).text.splitlines()
    assert json.loads(lines[1])["who"] == "Ann"
    assert client.get("/api/export", params={"what": "events"}).text.count("\n") == 1
    assert client.get("/api/export", params={"what": "labelstudio-config"}).text.startswith(
        "<View>"
    )


@pytest.mark.parametrize(
    ("path", "body", "status", "text"),
    [
        ("answer", {"who": "Ann", "row": 0}, 422, "candidate or values; got neither"),
        ("answer", {"who": "Ann", "candidate": 0}, 422, "row is missing"),
        ("answer", {"row": 0, "candidate": 0}, 422, "who is missing"),
        ("answer", {"who": "Ann", "row": 49, "candidate": 0}, 404, "no row 49 with holes"),
        ("answer", {"who": "Ann", "row": 0, "candidate": 99}, 404, "candidate"),
        ("answer", {"who": "Ann", "row": "0", "candidate": 0}, 422, "row must be a whole number"),
        ("answer", {"who": "Ann", "row": True, "candidate": 0}, 422, "row must be a whole number"),
        ("answer", {"who": "Ann", "row": 0, "candidate": 0, "x": 1}, 422, "unknown fields: 'x'"),
        ("answer", {"who": "Ann", "row": 0, "candidate": 0, "seconds": -1}, 422, "seconds must be"),
        ("answer", {"who": " ", "row": 0, "candidate": 0}, 409, "who must be text"),
        ("skip", {"who": "Ann", "row": 10**30}, 404, "no row"),
        ("undo", {"who": "Ann"}, 422, "there is no answer by Ann to undo"),
        ("answer", [1], 422, "a JSON object"),
        ("labelstudio", [1], 200, None),
    ],
)  # fmt: skip
def test_what_cannot_be_understood(client, app, path, body, status, text):
    found = client.post(f"/api/{path}", json=body)
    assert found.status_code == status
    if text is not None:
        assert text in found.json()["error"]
    assert app.state.cpclean.storage.last() == 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("question", "who is missing; it must be the name of the person"),
        ("question?who=Ann&row=x", 'row must be a whole number, 0 or more; got "x"'),
        ("question?who=Ann&row=%D9%A3", "row must be a whole number"),
        ("rows?sort='; drop table", "sort must be one of gain, number, state, who, said; got"),
        ("rows?state=lost", "state must be one of all, open, held"),
        ("rows?order=up", 'order must be one of asc, desc; got "up"'),
        ("rows?page=0", 'page must be a whole number from 1; got "0"'),
        ("rows?per_page=501", 'per_page must be a whole number from 1 to 500; got "501"'),
        ("export?what=all", "what must be one of table, log, events, audit, labelstudio"),
        (
            "export?format=exe",
            'format must be one of csv, tsv, json, parquet, xlsx, zip; got "exe"',
        ),
        ("export?fill=best", 'fill must be one of default, likely; got "best"'),
        ("export?limit=0", 'limit must be a whole number from 1 to 10000; got "0"'),
    ],
)
def test_queries_that_cannot_be_understood(client, path, text):
    found = client.get(f"/api/{path}")
    assert found.status_code == 422
    assert text in found.json()["error"]


def test_fields_that_are_null_count_as_absent(client):
    body = {"who": None, "row": 1, "candidate": 1, "values": None, "seconds": None, "next": None}
    found = client.post("/api/answer", params={"who": "Ann"}, json=body)
    assert found.status_code == 200
    assert "next" not in found.json()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 5000])
def test_bodies_that_are_not_json(client, content):
    kind = {"Content-Type": "application/json"}
    found = client.post("/api/answer", content=content, headers=kind)
    assert found.status_code == 422
    assert "the body is not valid JSON" in found.json()["error"]
    assert client.post("/api/answer", data={"row": "1"}).status_code == 422


def test_addresses_that_there_are_not(client):
    assert client.get("/api/nothing").status_code == 404
    assert client.post("/api/progress").status_code == 405
    assert "error" in client.get("/api/nothing").json()


@pytest.mark.parametrize(
    ("error", "status"),
    [(LockedError("locked."), 503), (FullError("full."), 507), (GoneError("gone."), 503)],
)
def test_troubles_of_the_database(client, app, monkeypatch, error, status):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr(app.state.cpclean.storage, "append", broken)
    found = said(client, "answer", who="Ann", row=0, candidate=0)
    assert found.status_code == status
    assert found.json() == {"error": str(error), "kind": type(error).__name__, "retry": True}
    assert found.headers["retry-after"] == "1"


def test_an_unforeseen_error_says_nothing_of_the_inside(app, monkeypatch, client):
    from starlette.testclient import TestClient

    def broken(*_, **__):
        raise RuntimeError("secret inside")

    monkeypatch.setattr(app.state.cpclean.desk, "progress", broken)
    calm = TestClient(
        app, "http://127.0.0.1", headers=client.headers, raise_server_exceptions=False
    )
    found = calm.get("/api/progress")
    assert found.status_code == 500
    assert "secret inside" not in found.text
    assert found.headers["x-content-type-options"] == "nosniff"


# -- Label Studio ----------------------------------------------------------------------------------


def annotated(task, *results, **more):
    return {**task, "annotations": [{"id": 1, "completed_by": 7, "result": list(results), **more}]}


def chosen(*choices):
    return {"from_name": "candidate", "to_name": "row", "type": "choices",
            "value": {"choices": list(choices)}}  # fmt: skip


def typed(*texts):
    return {
        "from_name": "values",
        "to_name": "row",
        "type": "textarea",
        "value": {"text": list(texts)},
    }


def test_questions_go_to_label_studio_and_come_back(client, app):
    tasks = client.get("/api/export", params={"what": "labelstudio", "limit": 4}).json()
    first, second, third, fourth = tasks
    assert first["data"]["row"] == app.state.cpclean.desk.project.session().ask().row
    alias, text = first["data"]["candidates"][1]["alias"], second["data"]["candidates"][2]["value"]
    exported = [
        annotated(first, chosen(alias), lead_time=4.5),
        annotated(second, chosen(text), completed_by={"id": 3, "email": "ann@example.org"}),
        annotated(third, typed("size = 7.5\ntown = Ulm" if "town" in third["data"]["missing"]
                               else "size = 7.5")),
        annotated(fourth, was_cancelled=True),
    ]  # fmt: skip

    found = client.post("/api/labelstudio", json=exported).json()

    assert found == {"taken": 4, "refused": []}
    events = app.state.cpclean.storage.events()
    assert [one.row for one in events] == [one["id"] for one in tasks]
    assert [one.kind for one in events] == ["answer", "answer", "answer", "skip"]
    assert events[0].candidate == int(alias)
    assert events[0].seconds == 4.5
    assert events[1].who == "ann@example.org (Label Studio)"
    assert events[2].value["size"] == 7.5
    again = client.post("/api/labelstudio", json=exported).json()
    assert again["taken"] == 4
    assert app.state.cpclean.storage.last() == 4, "nothing twice"


@pytest.mark.parametrize(
    "task",
    [
        1, None, [], {}, {"annotations": 1}, {"data": {}, "annotations": [{}]},
        {"data": {"row": "x"}, "annotations": [{}]}, {"data": {"row": 999}, "annotations": [{}]},
        {"data": {"row": 0}, "annotations": [{"result": [chosen("no such")]}]},
        {"data": {"row": 0}, "annotations": [{"result": [{"value": 1}]}]},
        {"data": {"row": 0}, "annotations": [{"result": [typed("no mark")]}]},
        {"data": {"row": 0}, "annotations": [{"result": [chosen("0")], "lead_time": "x" * 9}]},
    ],
)  # fmt: skip
def test_exports_that_are_none(client, task):
    found = client.post("/api/labelstudio", json=[task])
    assert found.status_code == 200
    assert found.json()["taken"] + len(found.json()["refused"]) <= 1


@pytest.mark.parametrize("body", [{}, {"tasks": []}, [], 1, "x"])
def test_bodies_without_tasks(client, body):
    found = client.post("/api/labelstudio", json=body)
    assert found.status_code == 422
    assert "the list of tasks that Label Studio exports as JSON" in found.json()["error"]


def test_a_single_task_is_taken(client):
    task = annotated({"data": {"row": 0}}, chosen("0"))
    assert client.post("/api/labelstudio", json=task).json() == {"taken": 1, "refused": []}


@pytest.mark.parametrize(
    "results",
    [[], [{"from_name": "taste", "type": "choices", "value": {"choices": ["sweet"]}}], [typed()]],
)
def test_annotations_that_say_nothing_are_refused(client, app, results):
    """They are no skips: those are marked so by Label Studio."""
    first, other = ({"id": n, "completed_by": n, "result": results} for n in (1, 2))
    task = {"data": {"row": 0}, "annotations": [first, {**other, "result": [chosen("1")]}]}
    found = client.post("/api/labelstudio", json=[task]).json()
    assert found["taken"] == 1, "what others said of the task counts"
    (refusal,) = found["refused"]
    assert refusal["task"] == 0
    assert "an annotation of row 0 has no answer" in refusal["error"]
    assert "labelstudio-config" in refusal["error"]
    assert [one.kind for one in app.state.cpclean.storage.events()] == ["answer"]
    skipped = {"data": {"row": 1}, "annotations": [{**first, "was_cancelled": True}]}
    assert client.post("/api/labelstudio", json=[skipped]).json()["taken"] == 1
    assert app.state.cpclean.storage.events()[-1].kind == "skip"


def test_tasks_without_annotations_are_told(client):
    """Such as those of another export of Label Studio."""
    found = client.post("/api/labelstudio", json=[{"row": 0, "candidate": "0"}]).json()
    assert found["taken"] == 0
    assert 'an object with "data" and "annotations"' in found["refused"][0]["error"]


# -- the description -------------------------------------------------------------------------------


def test_the_description_names_every_address(client, app):
    paths = client.get("/api/openapi.json").json()["paths"]
    routes = {one.path for one in app.routes if one.path.startswith("/api/")}
    assert {*paths} == routes - {"/api/openapi.json"}


def test_the_description_names_every_field_of_a_response(client):
    schemas = client.get("/api/openapi.json").json()["components"]["schemas"]
    given = {
        name: one
        for name, one in schemas.items()
        if name not in ("Answer", "Skip", "Undo", "Comment")
    }
    for name, one in given.items():
        sometimes = {"next"} if name == "Taken" else set()
        assert set(one["required"]) == set(one["properties"]) - sometimes, name
    question = client.get("/api/question", params={"who": "Ann"}).json()
    assert set(question) == set(given["Asked"]["properties"])
    assert set(question["question"]) == set(given["QuestionView"]["properties"])
    assert set(question["question"]["cells"][0]) == set(given["CellView"]["properties"])
    assert set(client.get("/api/progress").json()) == set(given["ProgressView"]["properties"])
    assert set(client.get("/api/rows").json()["rows"][0]) == set(given["RowView"]["properties"])
