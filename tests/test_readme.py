"""README opens with two commands that do everything, and .ci/run runs them on a new machine."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    "command", ["pip install . && cpclean demo", "pip install '.[test]' && pytest"]
)
def test_set_up_is_run_by_ci(command):
    readme, ci = ((ROOT / name).read_text("utf-8") for name in ("README.md", ".ci/run"))
    blocks = re.findall(r"^```sh\n(.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL)
    assert f"{command}\n" in blocks
    assert f"\n{command}\n" in ci
