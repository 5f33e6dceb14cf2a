"""Published models as guests of an atlas in tests, with another table than the shipped one."""

from dataclasses import replace

from generator.contracts import Guest
from generator.encyclopedia.guest import GUEST

EMPTY = b'{"schema":1,"models":[]}'


def guests(table: bytes = EMPTY) -> tuple[Guest, ...]:
    return (replace(GUEST, table=lambda: table),)
