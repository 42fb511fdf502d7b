"""config: the settings in force and where each comes from."""

from __future__ import annotations

import json

import click

from ..output import shown
from ..settings import KEYS, Settings, known_key, load_settings, set_key
from .commands import command
from .completing import setting_names, setting_values
from .session import json_option, note, show, show_json


# A value may be a negative number; whether it makes sense is for the setting to say.
@command("config", context_settings={"ignore_unknown_options": True})
@click.argument("key", required=False, shell_complete=setting_names)
@click.argument("value", required=False, shell_complete=setting_values)
@json_option
def config_command(key: str | None, value: str | None, as_json: bool) -> None:
    """Show the settings in force, or one of them, or set one.

    VALUE is JSON (5, true, ["a"]) or plain text. `defaultRoots` is what add and remove change.
    """
    settings = load_settings()
    if key is not None and value is not None:
        set_key(settings.paths.config_file, key, _value(key, value))
        settings = load_settings()
    if key is not None:
        known_key(key)
    names = [key] if key else list(KEYS)
    values = {name: getattr(settings, KEYS[name].attribute) for name in names}
    if as_json:
        show_json(_document(settings, values))
        return
    for name in names:
        text = json.dumps(values[name], ensure_ascii=True)
        show(f"{name} = {text}  ({settings.origins[name]})")
    if key is None:
        show(f"config file: {shown(settings.paths.config_file)}")
        show(f"index directory: {shown(settings.paths.index_directory)}")
        show(f"model cache: {shown(settings.paths.model_cache)}")
        for unknown in settings.unknown:
            note(f"unknown setting {unknown} (kept, not used)")


def _value(key: str, text: str) -> object:
    known = KEYS.get(key)
    if known is not None and isinstance(known.default, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _document(settings: Settings, values: dict[str, object]) -> dict[str, object]:
    return {
        "settings": {
            name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
        },
        "origins": {name: settings.origins[name] for name in values},
        "unknown": list(settings.unknown),
        "configPath": shown(settings.paths.config_file),
        "indexDirectory": shown(settings.paths.index_directory),
        "modelCache": shown(settings.paths.model_cache),
    }
