"""What lateness costs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class FineSchedule:
    """Cents for each day overdue after a few free days, never more than a ceiling."""

    cents_a_day: int = 20
    grace_days: int = 3
    ceiling_cents: int = 800

    def amount_due(self, due: date, returned: date) -> int:
        """The fine for a copy that came back on `returned`; nothing within the grace period."""
        late = (returned - due).days
        if late <= self.grace_days:
            return 0
        return min(late * self.cents_a_day, self.ceiling_cents)

    def forgive(self, owed_cents: int, *, child: bool) -> int:
        """What is left after an amnesty: children owe nothing, grown-ups half."""
        return 0 if child else owed_cents // 2
