"""A bar, and what is drawn beneath it."""

import io

from rich.console import Console

from cpclean.progress_bar import beneath_bars, progress_bar


class Drawn:
    """Something on the terminal that remembers when it was drawn."""

    def __init__(self):
        self.said = []

    def start(self):
        self.said.append("start")

    def stop(self):
        self.said.append("stop")


def test_what_is_drawn_is_paused_while_a_bar_is_shown():
    drawn, console = Drawn(), Console(file=io.StringIO(), force_terminal=True)
    with beneath_bars(drawn):
        with progress_bar(3, "counting", console=console) as follow:
            assert drawn.said == ["stop"]
            follow(3)
        assert drawn.said == ["stop", "start"]
        with progress_bar(3, "counting", shown=False) as follow:
            follow(1)
        assert drawn.said == ["stop", "start"]
    with progress_bar(3, "counting", console=console):
        assert drawn.said == ["stop", "start"]
