"""Example: renew every loan of a reader from the command line."""

from __future__ import annotations

import sys
from datetime import date

from ..lending.fines import FineSchedule
from ..lending.holds import HoldQueue
from ..lending.loans import LoanDesk


def main(barcodes: list[str]) -> None:
    desk = LoanDesk(HoldQueue(), FineSchedule())
    for barcode in barcodes:
        renewed = desk.renew_loan(barcode, date.today())
        sys.stdout.write(f"{barcode}: {'renewed' if renewed else 'somebody is waiting'}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
