"""The lending desk: who gets a copy, who may keep it longer."""

from __future__ import annotations

from datetime import date

import pytest

from .errors import CardExpired, DebtTooHigh, HeldForAnother
from .fines import FineSchedule
from .holds import HoldQueue
from .loans import LOAN_PERIOD, LoanDesk, Reader

TODAY = date(2025, 5, 5)
ADA = Reader("R-1", date(2026, 1, 1))
BOB = Reader("R-2", date(2026, 1, 1))


def desk(holds: HoldQueue | None = None) -> LoanDesk:
    return LoanDesk(holds or HoldQueue(), FineSchedule())


def test_check_out_sets_the_due_date() -> None:
    assert desk().check_out(ADA, "B-7", TODAY).due == TODAY + LOAN_PERIOD


def test_an_expired_card_is_refused() -> None:
    with pytest.raises(CardExpired, match="PL-101"):
        desk().check_out(Reader("R-9", date(2024, 1, 1)), "B-7", TODAY)


def test_fines_must_be_paid_before_the_next_loan() -> None:
    with pytest.raises(DebtTooHigh, match="PL-107"):
        desk().check_out(Reader("R-9", date(2026, 1, 1), owed_cents=2500), "B-7", TODAY)


def test_renew_loan_is_refused_while_somebody_waits() -> None:
    holds = HoldQueue()
    lending = desk(holds)
    lending.check_out(ADA, "B-7", TODAY)
    holds.place("B-7", BOB.card, TODAY)
    assert lending.renew_loan("B-7", TODAY) is None
    lending.take_back("B-7", TODAY)
    with pytest.raises(HeldForAnother):
        lending.check_out(ADA, "B-7", TODAY)
