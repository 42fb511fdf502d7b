"""A column of a progress bar: how many a second."""

from __future__ import annotations

from rich.progress import ProgressColumn, Task
from rich.text import Text


class RateColumn(ProgressColumn):
    """The speed of a task, empty until it is known."""

    def render(self, task: Task) -> Text:
        """See `ProgressColumn`."""
        return Text(f"{task.speed:.0f}/s" if task.speed else "", style="dim")
