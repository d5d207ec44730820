"""The command line: one module for each command, but `check` and `count` share one.

    demo, inspect, predict, rank, clean, serve    the commands, as people need them
    simulate, report, bench, reproduce            more of them
    options, tasks, sessions                      options that are shared, and what they become
    project_file, completion                      options that are remembered; words for a shell
    label_option                                  what to say if nothing is to be predicted
    many_files                                    training tables of many files
    listening, project_places, told_before        `serve`: tokens, where projects are, older answers
    team_options                                  what `serve` is told about the people who answer
    served_demo                                   the project of `serve --demo`
    dialogue, questions, typed_cells              what `clean` asks, shows and understands
    oracle, trials, wines                         true values: of a file, complete rows, the demo
    output, charts, mistakes                      results, curves and errors

Modules import what they need when a command runs, so that ``cpclean --help`` is fast.
"""

from __future__ import annotations

import click

from cpclean.cli.bench import bench
from cpclean.cli.clean import clean
from cpclean.cli.completion import completion
from cpclean.cli.demo import demo
from cpclean.cli.inspect import inspect
from cpclean.cli.mistakes import Verbs
from cpclean.cli.predict import check, count
from cpclean.cli.rank import rank
from cpclean.cli.report import report
from cpclean.cli.reproduce import reproduce
from cpclean.cli.serve import serve
from cpclean.cli.simulate import simulate


@click.group(name="cpclean", cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cpclean")
@click.option("--debug", is_flag=True, help="Show the traceback when something goes wrong.")
def main(debug: bool) -> None:
    """Certain predictions over incomplete data, for nearest-neighbour classifiers.

    \b
    Example:
      cpclean inspect train.csv --label y   # y: the column of train.csv to predict
    """


for verb in (
    demo, inspect, check, count, rank, clean, serve, simulate, report, bench, reproduce, completion
):  # fmt: skip
    main.add_command(verb)
