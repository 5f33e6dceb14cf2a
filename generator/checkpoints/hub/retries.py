"""How long a server that asks for rest is waited for."""

import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

WAITS = (0.5, 1.0, 2.0, 4.0)  # seconds before each further try
LONGEST = 310.0  # seconds; the Hub counts requests in windows of 300 (huggingface.co/docs/hub/rate-limits).
LATEST = 450.0  # seconds after a row has begun: fewer than it may take, since some are for its work.
BEFORE_A_RUN = 60.0  # seconds


class Patience:
    """What one row may wait: ``longest`` at a time, and never beyond ``latest`` seconds from now."""

    def __init__(self, longest: float = LONGEST, latest: float = LATEST) -> None:
        self.longest, self._end = longest, time.monotonic() + latest

    def left(self) -> float:
        """The longest wait that may begin now, in seconds."""
        return max(0.0, min(self.longest, self._end - time.monotonic()))


def retry_after(status: int, headers: Mapping[str, str]) -> float:
    """How long an answer asks to be left alone, in seconds; 0 where it does not say (Retry-After: RFC 9110, section 10.2.3)."""
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]  # Public by its documentation.

    said = headers.get("Retry-After", "").strip()
    with suppress(ValueError):  # Of a number with thousands of digits, or what is no date.
        limited = parse_ratelimit_headers(headers)
        if status == 429 and limited is not None and limited.remaining == 0:
            return float(limited.reset_in_seconds)
        if said.isdecimal():
            return float(said)
        if said:
            date = parsedate_to_datetime(said)
            return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return 0.0
