"""The command: `semantic-search`, also `python -m semantic_search`."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn


def main() -> None:
    """Runs the command line and ends the process with its exit status.

    0 found or done, 1 nothing found, 2 an error (one line on stderr), 130 interrupted.
    """
    from .cli import COMPLETE_VARIABLE, INTERRUPTED, command
    from .errors import SemanticSearchError, unforeseen

    _use_utf8()
    if os.name == "posix":
        # What libraries write is as private as what we do: LanceDB makes its files by the umask alone.
        os.umask(0o077)
    try:
        if COMPLETE_VARIABLE in os.environ:
            from .cli.completing import use_our_shells

            use_our_shells()
        status = command.main(standalone_mode=False, complete_var=COMPLETE_VARIABLE)
    except SemanticSearchError as error:
        status = _fail(str(error))
    except MemoryError:
        status = _fail(
            "there is not enough memory; what was written is kept. Close other programs and run it again, "
            "where need be with a smaller `concurrency`"
        )
    except KeyboardInterrupt:
        print("interrupted; what was written is kept", file=sys.stderr)
        status = INTERRUPTED
    except unforeseen() as error:
        status = _unforeseen(error)
    if status == INTERRUPTED:
        _leave(INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)


def _leave(status: int) -> NoReturn:
    """Ends the process at once. The interpreter would wait for every thread, and one may wait for ever."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def _use_utf8() -> None:
    """Makes stdout and stderr carry any text whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def _fail(message: str) -> int:
    from .output import harmless

    print(f"semantic-search: {harmless(message)}", file=sys.stderr)
    return 2


def _unforeseen(error: BaseException) -> int:
    import click

    from .cli import INTERRUPTED

    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.Abort):
        print("interrupted; what was written is kept", file=sys.stderr)
        return INTERRUPTED
    if isinstance(error, click.ClickException):
        error.show()
        return 2
    if os.environ.get("SS_DEBUG"):
        raise error
    name = type(error).__name__
    return _fail(f"{name}: {error}. This is a fault of ours: SS_DEBUG=1 shows where; please report it")


if __name__ == "__main__":
    main()
