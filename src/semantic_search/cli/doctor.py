"""doctor: check everything and say what to mend."""

from __future__ import annotations

from ..output import valid
from ..tools.doctor import doctor
from .commands import command
from .session import json_option, open_whatever_can_be, show, show_json, store_option


@command("doctor")
@store_option
@json_option
def doctor_command(as_json: bool) -> int:
    """Check everything and say what to mend. Exit status 0 when all is well, 2 when not."""
    with open_whatever_can_be() as (corpus, faults):
        findings = doctor(corpus, faults)
    well = all(finding.well for finding in findings)
    if as_json:
        show_json(
            {
                "ok": well,
                "checks": [{"check": f.check, "ok": f.well, "detail": valid(f.detail)} for f in findings],
            }
        )
    else:
        for finding in findings:
            show(f"{'ok  ' if finding.well else 'MEND'}  {finding.check}: {finding.detail}")
    return 0 if well else 2
