"""Whether an HTML file is the source of a program rather than a page: then its markup is what matters."""

from __future__ import annotations

import re
from itertools import islice

_LOOKED_AT = 1_000_000
_A_MARK_IN = 20_000
# What shows code shows marks too; an element that nothing closes goes to the end.
_SHOWN = re.compile(
    rb"<(pre|code|script|style|textarea)\b.*?(?:</\1|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL | re.IGNORECASE
)
_MARK = re.compile(
    rb"\{\{|\{%|<%|<\?(?:php|=)|\{#if|\bth:[a-z]+=|\bv-(?:if|for|model|bind|on|html|show)\b|\*ng(?:If|For)\b"
    rb"|\[\(ngModel\)\]|\bng-(?:app|repeat|model|if|controller)\b|\bx-(?:data|show|on:)|\bhx-(?:get|post|target)="
)


def is_source(data: bytes) -> bool:
    """Whether there are marks of a template language in it, about one in 20 000 bytes or more."""
    seen = _SHOWN.sub(b"", data[:_LOOKED_AT])
    needed = 1 + len(seen) // _A_MARK_IN
    return next(islice(_MARK.finditer(seen), needed - 1, None), None) is not None
