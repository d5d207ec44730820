"""cpclean completion: the words of commands, completed by the shell."""

from __future__ import annotations

import os
from pathlib import Path

import click

# Where each shell reads its settings.
SHELLS = {
    "bash": ("~/.bashrc", 'eval "$(cpclean completion bash)"'),
    "zsh": ("~/.zshrc", 'eval "$(cpclean completion zsh)"'),
    "fish": ("~/.config/fish/config.fish", "cpclean completion fish | source"),
}


@click.command(short_help="Let the shell complete commands and options.")
@click.argument("shell", type=click.Choice(list(SHELLS)), required=False)
@click.pass_context
def completion(ctx: click.Context, shell: str | None) -> None:
    """Print what a shell needs to complete commands, options and their values.

    Without SHELL, it says which line belongs into which file.

    \b
    Example:
      cpclean completion
      eval "$(cpclean completion bash)"
    """
    from click.shell_completion import get_completion_class

    if shell is None:
        mine = Path(os.environ.get("SHELL", "")).name
        for name in [mine] if mine in SHELLS else SHELLS:
            file, line = SHELLS[name]
            click.echo(f"Put this line into {file}, and open a new terminal:\n  {line}")
        return
    found = get_completion_class(shell)
    assert found is not None
    main = ctx.find_root().command
    click.echo(found(main, {}, "cpclean", "_CPCLEAN_COMPLETE").source())
