"""Label Studio: questions out as its tasks, and annotations back in as answers.

A task is a row with holes, as in an import file of Label Studio:

    {"id": 17,
     "data": {"row": 17, "number": 23, "line": 25, "seen": 40, "title": "id 4711",
              "known": "age = 41, city = Ulm", "missing": "income", "why": "...",
              "candidates": [{"value": "income = 1200", "alias": "0"}, ...]}}

`CONFIG` is a labelling interface for such tasks: dynamic choices named "candidate", one text area
named "values" for ``column = value`` lines. What comes back is Label Studio's JSON export, a list
of tasks of which only these parts are looked at:

    {"data": {"row": 17, ...},
     "annotations": [{"id": 5, "completed_by": 2 or {"email": "ann@example.org"}, "lead_time": 7.5,
                      "was_cancelled": false,
                      "result": [{"from_name": "candidate", "type": "choices",
                                  "value": {"choices": ["0"]}},
                                 {"from_name": "values", "type": "textarea",
                                  "value": {"text": ["income = 1250"]}}]}]}

A value that is known only roughly is typed as income = 1000 .. 1500, with an end left out if there
is no limit; income = ? says that nobody knows it, and income = ? unreadable why. Typed values take
precedence over a choice; an annotation that was cancelled (skipped) is a skip,
and one with neither is refused: it comes from another labelling interface, or was left empty. Each
annotation counts once, by its id, also if the same file is sent twice. One about a row that
somebody else has answered since the task was made (its "seen") is refused, so that nobody overrules
others without knowing.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from cpclean.errors import AnswerError, CPCleanError, OvertakenError, StorageError
from cpclean.storage.events import REASONS
from cpclean.web.api.messages import Imported, Refused
from cpclean.web.desk.desk import NAME_LENGTH, Desk
from cpclean.web.desk.views import ProgressView, QuestionView
from cpclean.web.desk.why_asked import why

CONFIG = """<View>
  <Header value="$title: what is missing?"/>
  <Header size="6" value="Row $number of the file. $why"/>
  <Text name="row" value="$known"/>
  <Header size="5" value="Missing: $missing"/>
  <Choices name="candidate" toName="row" choice="single-radio" value="$candidates"/>
  <Header size="5" value="Or type it as column = value, one per line"/>
  <Header size="5" value="Roughly: column = low .. high; unknown: column = ?"/>
  <TextArea name="values" toName="row" maxSubmissions="20" editable="true"/>
</View>
"""


class AnnotationError(AnswerError):
    """What was sent is not an export of Label Studio."""


def tasks_of(desk: Desk, limit: int = 100) -> list[dict[str, Any]]:
    """The questions that matter most, as tasks; they are not held for anybody."""
    progress = desk.progress()
    return [_task(desk.look(row), progress) for row in desk.best_rows(limit)]


def _task(question: QuestionView, progress: ProgressView) -> dict[str, Any]:
    known = [f"{cell.column} = {cell.text}" for cell in question.cells if cell.text is not None]
    missing = [cell.column for cell in question.cells if cell.hole]
    choices = [
        {"value": _spelt(one.cells), "alias": str(one.number)} for one in question.candidates
    ]
    data = {
        "row": question.row,
        "number": question.number,
        "line": question.line,
        "seen": question.seen,
        "title": question.title or f"Row {question.number}",
        "known": ", ".join(known),
        "missing": ", ".join(missing),
        "why": why(question, progress, best=False),
        "candidates": choices,
    }
    return {"id": question.row, "data": data}


def _spelt(cells: dict[str, str]) -> str:
    return ", ".join(f"{name} = {text}" for name, text in cells.items())


def take_annotations(desk: Desk, tasks: Any) -> Imported:
    """Save what people answered in Label Studio, and tell what could not be saved."""
    taken, refused, last = 0, [], desk.storage.last()
    for number, task in enumerate(_tasks(tasks)):
        try:
            annotations = _annotations(task)
        except AnnotationError as problem:
            refused.append(Refused(number, str(problem)))
            continue
        for annotation in annotations:
            try:
                _take(desk, task, annotation, last)
                taken += 1
            except OvertakenError as problem:
                refused.append(Refused(number, str(problem)))
            except StorageError:
                raise  # nothing is wrong with the task: all of it can be sent again
            except CPCleanError as problem:
                refused.append(Refused(number, str(problem)))
    return Imported(taken, refused)


def _tasks(given: Any) -> list[Any]:
    """The tasks of an export, or the single one that was given; none at all is an error."""
    if isinstance(given, dict) and given.keys() & {"data", "annotations"}:
        return [given]
    if not isinstance(given, list) or not given:
        got = "an empty list" if given == [] else json.dumps(given)[:40]
        raise AnnotationError(
            "there are no tasks in the body. Send the list of tasks that Label Studio exports as "
            f"JSON (not JSON-MIN); got {got}."
        )
    return given


def _annotations(task: Any) -> list[Any]:
    found = task.get("annotations") if isinstance(task, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise AnnotationError(
            'a task must be an object with "data" and "annotations", as Label Studio exports it.'
        )
    return found


def _take(desk: Desk, task: dict[str, Any], annotation: dict[str, Any], last: int) -> None:
    data = task.get("data")
    given = data if isinstance(data, dict) else {}
    row = given.get("number", given.get("row"))  # tasks of old had another "row"
    if isinstance(row, bool) or not isinstance(row, int):
        raise AnnotationError('a task must name its row, as in "data": {"row": 17}.')
    who, seconds = _who(annotation), annotation.get("lead_time")
    seconds = float(seconds) if isinstance(seconds, int | float) and seconds >= 0 else None
    request_id = _request_id(row, annotation)
    if annotation.get("was_cancelled"):
        desk.skip(who, row, request_id, seconds)
        return
    candidate, values = _said(annotation, data or {})
    unknown = [text.removeprefix("?").strip() for text in values.values() if _is_unknown(text)]
    values = {name: text for name, text in values.items() if not _is_unknown(text)}
    if unknown and not values:
        reasons = [one for one in unknown if one in REASONS]
        desk.skip(who, row, request_id, seconds, reason=reasons[0] if reasons else "")
        return
    if candidate is None and not values:
        raise AnnotationError(
            f"an annotation of row {row} has no answer: no choice named 'candidate', and no text "
            "named 'values'. Use the labelling interface of /api/export?what=labelstudio-config, "
            "and skip the task in Label Studio if nobody knows."
        )
    said = {name: _rough(text) or text for name, text in values.items()} or None
    seen = _seen(data or {}, last)
    for attempt in (1, 2):
        try:
            desk.answer(who, row, None if said else candidate, said, request_id, seconds, seen=seen)
            return
        except OvertakenError as problem:
            if problem.event.who != who or attempt == 2:
                raise
            seen = problem.event.number  # of two annotations by one person, the last counts


def _seen(data: dict[str, Any], last: int) -> int:
    """The last event that a task takes into account; for tasks of old, what was there before."""
    found = data.get("seen")
    return found if isinstance(found, int) and 0 <= found <= last else last


def _is_unknown(text: str) -> bool:
    return text.startswith("?")


def _rough(text: str) -> dict[str, list[str | None]] | None:
    """A range that was typed as low .. high, of which one may be left out; None for a value."""
    low, mark, high = text.partition("..")
    ends = [end.strip() or None for end in (low, high)]
    return {"between": ends} if mark and any(ends) and ".." not in high else None


def _who(annotation: dict[str, Any]) -> str:
    found = annotation.get("completed_by")
    if isinstance(found, dict):
        found = found.get("email") or found.get("id")
    name = str(found) if isinstance(found, str | int) and str(found).strip() else "somebody"
    return f"{name[: NAME_LENGTH - 20]} (Label Studio)"


def _said(annotation: dict[str, Any], data: dict[str, Any]) -> tuple[int | None, dict[str, str]]:
    """The candidate that was chosen, and the values that were typed."""
    candidate: int | None = None
    values: dict[str, str] = {}
    results = annotation.get("result", [])
    for result in results if isinstance(results, list) else []:
        value = result.get("value") if isinstance(result, dict) else None
        if not isinstance(value, dict):
            raise AnnotationError("each result of an annotation must be an object with a value.")
        if result.get("from_name") == "candidate":
            candidate = _chosen(value.get("choices"), data)
        elif result.get("from_name") == "values":
            values |= _typed(value.get("text"))
    return candidate, values


def _chosen(choices: Any, data: dict[str, Any]) -> int:
    """The number of a candidate, of which the export has the alias or the text."""
    choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else None
    listed = data.get("candidates")
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, dict) and choice is not None and choice == one.get("value"):
            choice = one.get("alias")
    if not isinstance(choice, str) or not choice.isdecimal() or len(choice) > 9:
        raise AnnotationError(
            f"a choice must be one of the task's candidates; got {str(choices)[:60]!r}."
        )
    return int(choice)


def _typed(texts: Any) -> dict[str, str]:
    lines = [texts] if isinstance(texts, str) else texts
    found = {}
    for text in lines if isinstance(lines, list) else []:
        for line in str(text).splitlines():
            name, mark, value = line.partition("=")
            if not mark:
                raise AnnotationError(
                    f"values must be typed as column = value, one per line; got {line[:60]!r}."
                )
            found[name.strip()] = value.strip()
    return found


def _request_id(row: int, annotation: dict[str, Any]) -> str:
    """The same for the same annotation, whatever file it comes in; a new one once it changes."""
    parts = [row, annotation.get("id"), annotation.get("unique_id"), annotation.get("result")]
    text = json.dumps([*parts, annotation.get("was_cancelled")], sort_keys=True, default=str)
    return f"label-studio-{hashlib.sha256(text.encode()).hexdigest()[:40]}"
