"""What lateness cost until 2023. Kept for old invoices."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class FineSchedule:
    """Cents for each day overdue after one free day, without a ceiling."""

    cents_a_day: int = 35
    grace_days: int = 1

    def amount_due(self, due: date, returned: date) -> int:
        """The fine for a copy that came back on `returned`; nothing within the grace period."""
        late = (returned - due).days
        if late <= self.grace_days:
            return 0
        return late * self.cents_a_day
