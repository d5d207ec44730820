"""README keeps its word: its Python prints what it says, and .ci/run runs its commands."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(text: str) -> list[tuple[str, str]]:
    """(language, code) of every fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def promised(code: str) -> list[str]:
    """What the code says it prints: the text after each `# prints`, line by line."""
    return [line.strip() for line in re.findall(r"# prints (.*)$", code, flags=re.MULTILINE)]


def printed(code: str, namespace: dict[str, object]) -> list[str]:
    """What the code prints when run."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "README.md", "exec"), namespace)
    return [line.strip() for line in out.getvalue().splitlines()]


def test_python_blocks_print_what_they_promise():
    python = [code for language, code in blocks(README) if language == "python"]
    assert python, "README has no Python example"
    namespace: dict[str, object] = {"__name__": "readme"}  # later blocks build on earlier ones
    for code in python:
        assert printed(code, namespace) == promised(code)


def test_commands_are_run_by_ci():
    ci = (ROOT / ".ci/run").read_text("utf-8")
    shell = [code for language, code in blocks(README) if language == "sh"]
    commands = [line for code in shell for line in code.splitlines() if line]
    assert "pip install . && cpclean demo" in commands
    assert "pip install '.[test]' && pytest" in commands
    for command in commands:
        assert command in ci, f"README shows {command!r}, which .ci/run does not run"


def test_every_block_says_its_language():
    # A block in any other language, or in none, would be run by nobody.
    assert {language for language, _ in blocks(README)} <= {"python", "sh", "text", "bibtex"}
    assert README.count("```") == 2 * len(blocks(README))


def test_a_broken_promise_is_noticed():
    code = "print(1 + 1)  # prints 3\n"
    assert printed(code, {}) == ["2"]
    assert promised(code) == ["3"]
    with pytest.raises(NameError, match="nowhere"):
        printed("nowhere()", {})
