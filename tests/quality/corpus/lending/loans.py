"""The lending desk: giving copies out, taking them back, and letting readers keep them longer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta

from .errors import CardExpired, DebtTooHigh, HeldForAnother, TooManyLoans
from .fines import FineSchedule
from .holds import HoldQueue

MAX_LOANS = 12
MAX_RENEWALS = 2
LOAN_PERIOD = timedelta(days=21)
DEBT_LIMIT_CENTS = 1000


@dataclass(frozen=True)
class Reader:
    """Somebody with a card."""

    card: str
    valid_until: date
    owed_cents: int = 0


@dataclass(frozen=True)
class Loan:
    """One copy in one reader's hands."""

    barcode: str
    card: str
    due: date
    renewals: int = 0


class LoanDesk:
    """Keeps the loans of one branch."""

    def __init__(self, holds: HoldQueue, fines: FineSchedule) -> None:
        self._holds = holds
        self._fines = fines
        self._loans: dict[str, Loan] = {}

    def check_out(self, reader: Reader, barcode: str, today: date) -> Loan:
        """Lends a copy, or raises the LoanRefused that says why not."""
        if reader.valid_until < today:
            raise CardExpired(reader.card)
        if reader.owed_cents > DEBT_LIMIT_CENTS:
            raise DebtTooHigh(reader.owed_cents)
        if sum(loan.card == reader.card for loan in self._loans.values()) >= MAX_LOANS:
            raise TooManyLoans(MAX_LOANS)
        first = self._holds.next_in_line(barcode)
        if first is not None and first.card != reader.card:
            raise HeldForAnother(barcode)
        loan = Loan(barcode, reader.card, today + LOAN_PERIOD)
        self._loans[barcode] = loan
        return loan

    def renew_loan(self, barcode: str, today: date) -> Loan | None:
        """Moves the due date; None when somebody waits for the copy or the renewals are used up."""
        loan = self._loans[barcode]
        if loan.renewals >= MAX_RENEWALS or self._holds.next_in_line(barcode) is not None:
            return None
        renewed = replace(loan, due=today + LOAN_PERIOD, renewals=loan.renewals + 1)
        self._loans[barcode] = renewed
        return renewed

    def take_back(self, barcode: str, today: date) -> int:
        """Ends a loan and returns what the reader owes for being late, in cents."""
        loan = self._loans.pop(barcode)
        return self._fines.amount_due(loan.due, today)
