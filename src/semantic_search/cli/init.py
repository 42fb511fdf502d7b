"""init: what a project may want beside its files."""

from __future__ import annotations

from importlib import resources

import click

from ..errors import SettingsError


@click.command("init")
@click.option("--indexignore", is_flag=True, help="Print an example .indexignore.")
def init_command(indexignore: bool) -> None:
    """Print an example .indexignore: `semantic-search init --indexignore > .indexignore`."""
    if not indexignore:
        raise SettingsError("nothing to do: say --indexignore to print an example .indexignore")
    text = resources.files("semantic_search").joinpath("indexignore.example").read_text(encoding="utf-8")
    print(text, end="")
