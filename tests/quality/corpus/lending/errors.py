"""Refusals that a reader sees, each with a number that the help desk can look up."""

from __future__ import annotations


class LoanRefused(Exception):
    """The desk does not lend. `code` is stable, the sentence may be reworded."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(f"{code}: {sentence}")
        self.code = code


class CardExpired(LoanRefused):
    """The reader's card has run out."""

    def __init__(self, number: str) -> None:
        super().__init__("PL-101", f"card {number} has expired; renew it at any branch")


class TooManyLoans(LoanRefused):
    """The reader has as many items as the rules allow."""

    def __init__(self, limit: int) -> None:
        super().__init__("PL-102", f"no more than {limit} items at a time")


class DebtTooHigh(LoanRefused):
    """Unpaid fines are above the threshold at which lending stops."""

    def __init__(self, owed_cents: int) -> None:
        super().__init__("PL-107", f"fines of {owed_cents / 100:.2f} must be paid before the next loan")


class HeldForAnother(LoanRefused):
    """The copy lies on the hold shelf for somebody else."""

    def __init__(self, barcode: str) -> None:
        super().__init__("PL-110", f"copy {barcode} is waiting for another reader")
