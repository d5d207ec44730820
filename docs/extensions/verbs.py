"""A directive that writes the reference of the command line from the commands themselves.

``{verbs}`` becomes one section for each command, with the text of its ``--help`` in the layout of
the page. So the page always says the same as the terminal.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import click
from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class Verbs(SphinxDirective):
    """All commands of cpclean, in the order in which ``cpclean --help`` lists them."""

    def run(self) -> list[nodes.Node]:
        from cpclean.cli import main

        root = click.Context(main, info_name="cpclean", **main.context_settings)
        names = main.list_commands(root)
        commands = [(name, main.get_command(root, name)) for name in names]
        return [
            *_described(main, root),
            _overview([(name, command) for name, command in commands if command]),
            *(self._section(name, command, root) for name, command in commands if command),
        ]

    def _section(self, name: str, command: click.Command, root: click.Context) -> nodes.section:
        context = click.Context(command, info_name=name, parent=root)
        section = nodes.section(ids=[f"cpclean-{name}"], names=[f"cpclean {name}"])
        section += nodes.title(text=f"cpclean {name}")
        section += _described(command, context)
        self.state.document.note_explicit_target(section)
        return section


def _described(command: click.Command, context: click.Context) -> list[nodes.Node]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    return [_literal(usage), *_prose(command), _options(command, context)]


def _overview(commands: list[tuple[str, click.Command]]) -> nodes.bullet_list:
    """One line for each command, with a link to its section."""
    listed = nodes.bullet_list()
    for name, command in commands:
        link = nodes.reference("", "", internal=True, refid=f"cpclean-{name}")
        link += nodes.literal(text=f"cpclean {name}")
        line = nodes.paragraph()
        line += [link, nodes.Text(f": {command.get_short_help_str(limit=300)}")]
        item = nodes.list_item()
        item += line
        listed += item
    return listed


def _prose(command: click.Command) -> list[nodes.Node]:
    """The help text; paragraphs that click does not wrap are shown as they are written."""
    found: list[nodes.Node] = []
    for part in inspect.cleandoc(command.help or "").split("\n\n"):
        lines = part.splitlines()
        if lines and lines[0].strip() == "\b":
            lead, *rest = lines[1:]
            found.append(nodes.paragraph(text=lead.strip()))
            found.append(_literal(inspect.cleandoc("\n".join(rest))))
        elif lines:
            found.append(_paragraph(" ".join(line.strip() for line in lines)))
    return found


def _options(command: click.Command, context: click.Context) -> nodes.definition_list:
    """Every option that has a help text."""
    records = [param.get_help_record(context) for param in command.get_params(context)]
    listed = nodes.definition_list(classes=["verb-options"])
    for names, meaning in (record for record in records if record and record[1]):
        term = nodes.term()
        term += nodes.literal(text=names)
        definition = nodes.definition()
        definition += _paragraph(" ".join(meaning.split()))
        item = nodes.definition_list_item()
        item += [term, definition]
        listed += item
    return listed


def _paragraph(text: str) -> nodes.paragraph:
    """A paragraph in which options, and text between backticks, are literal."""
    found = nodes.paragraph()
    for number, part in enumerate(re.split(r"(--[a-z][a-z-]*|`[^`]+`)", text)):
        found += nodes.literal(text=part.strip("`")) if number % 2 else nodes.Text(part)
    return found


def _literal(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="text")


def setup(app: Any) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("verbs", Verbs)
    return {"version": "1", "parallel_read_safe": True, "env_version": 1}
