"""Waits between retries, and the time that a row may spend on them."""

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

WAITS = (0.5, 1.0, 2.0, 4.0)  # seconds before the first, second … retry
# seconds; the Hub counts requests in windows of 300 (huggingface.co/docs/hub/rate-limits).
LONGEST = 310.0
# seconds after a row starts, below its time limit, so that some are left for its evaluation.
LATEST = 450.0
# seconds that a revision may wait to be pinned, and that its answer may take, which is done for all
# rows before the first starts; a row that is late asks again in its evaluation, beside the others
BEFORE_A_RUN = 5.0


class RetryBudget:
    """Time that one row may wait for retries.

    longest: seconds of one wait; latest: seconds from now after which no wait ends
    answers: seconds that the answers to one question may take in all, where it allows more
    """

    def __init__(
        self, longest: float = LONGEST, latest: float = LATEST, answers: float = math.inf
    ) -> None:
        self.longest, self.answers, self._end = longest, answers, time.monotonic() + latest

    def left(self) -> float:
        """Longest wait that may start now, in seconds."""
        return max(0.0, min(self.longest, self._end - time.monotonic()))


def retry_after(status: int, headers: Mapping[str, str]) -> float:
    """Seconds to wait before a retry, from the headers of a response; 0 without such a header.

    Source: the Hub's rate limit headers for a 429, otherwise Retry-After (RFC 9110, section
        10.2.3).
    """
    # Public by its documentation.
    from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

    header = headers.get("Retry-After", "").strip()
    with suppress(ValueError):  # A number with thousands of digits, or an invalid date.
        limited = parse_ratelimit_headers(headers)
        if status == 429 and limited is not None and limited.remaining == 0:
            return float(limited.reset_in_seconds)
        if header.isdecimal():
            return float(header)
        if header:
            date = parsedate_to_datetime(header)
            return max(
                0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
            )
    return 0.0
