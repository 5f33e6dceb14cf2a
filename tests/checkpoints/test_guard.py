"""Addresses that a Hub may not redirect to."""

import socket
import struct
import sys
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any

import httpx2
import pytest

from generator.checkpoints.hub import guard, requests
from generator.checkpoints.hub.retries import RetryBudget
from generator.errors import RowError
from tests.hub_server import Answer, Trouble, serving

PUBLIC, PRIVATE = "93.184.216.34", "10.1.2.3"
GET_ADDRESS = 0x8915  # SIOCGIFADDR of Linux.


def own_addresses() -> list[str]:
    """IPv4 addresses of the interfaces of this machine, by the kernel; off Linux, of the first."""
    if sys.platform != "linux":
        return ["127.0.0.1"]
    from fcntl import ioctl

    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                answer = ioctl(probe, GET_ADDRESS, struct.pack("256s", name.encode()[:15]))
            except OSError:  # It has none.
                continue
            found.append(socket.inet_ntoa(answer[20:24]))
    return found


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, Iterator[str]]:
    """Names with the addresses that they have, one question after the other."""
    known: dict[str, Iterator[str]] = {}
    true: Callable[..., Any] = socket.getaddrinfo

    def resolved(host: Any, *arguments: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        return true(next(known[name]) if name in known else host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    monkeypatch.setenv("NO_PROXY", "*")
    return known


def forever(address: str) -> Iterator[str]:
    while True:
        yield address


def is_refused(target: str, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", endpoint)
    try:
        guard.check(httpx2.Request("GET", target))
    except guard.LocalRedirectError:
        return True
    return False


# Addresses, and whether they are refused from a public Hub and from one of a network of its own.
ADDRESSES = {
    "127.0.0.1": (True, True),
    "127.8.8.8": (True, True),
    "0.0.0.0": (True, True),  # noqa: S104 (nothing listens)
    "2130706433": (True, True),
    "[::1]": (True, True),
    "[::ffff:127.0.0.1]": (True, True),
    "[64:ff9b::7f00:1]": (True, True),
    "[2002:7f00:1::]": (True, True),
    "169.254.169.254": (True, True),
    "[64:ff9b::a9fe:a9fe]": (True, True),
    "[fe80::1]": (True, True),
    PRIVATE: (True, False),
    "100.64.0.1": (True, False),
    "198.18.0.1": (True, False),
    "224.0.0.1": (True, False),
    "[fc00::1]": (True, False),
    "[fec0::1]": (True, False),
    "[::7f00:1]": (True, False),
    "[64:ff9b::a01:203]": (True, False),
    "[2002:a01:203::]": (True, False),
    PUBLIC: (False, False),
    "[2606:4700::1]": (False, False),
    "[64:ff9b::5db8:d822]": (False, False),
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_is_not_public_is_refused_unless_the_hub_has_one(
    address: str, names: dict[str, Iterator[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    names |= {"public.test": forever(PUBLIC), "private.test": forever(PRIVATE)}
    assert ADDRESSES[address] == tuple(
        is_refused(f"http://{address}/x", f"https://{hub}.test", monkeypatch)
        for hub in ("public", "private")
    )


def test_every_address_of_this_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = own_addresses()
    assert "127.0.0.1" in addresses
    for address in addresses:
        # What else may be known of it, such as that it is private, is not the reason.
        monkeypatch.setattr(guard, "_is_public", lambda _: True)
        assert guard._is_local(ip_address(address))
        assert is_refused(f"http://{address}/x", "http://192.0.2.1", monkeypatch)


def test_the_hub_that_is_configured_may_be_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_refused("http://127.0.0.1:8000/x", "http://127.0.0.1:8000", monkeypatch)
    assert is_refused("http://127.0.0.1:8001/x", "http://127.0.0.1:8000", monkeypatch)
    assert is_refused("https://127.0.0.1/x", "http://127.0.0.1", monkeypatch)


def test_a_name_that_has_another_address_for_the_connection_is_refused_before_a_request(
    names: dict[str, Iterator[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Public by its documentation.
    from huggingface_hub.utils import close_session  # type: ignore[attr-defined]

    close_session()
    names["rebound.test"] = iter([PUBLIC, "127.0.0.1"])
    with serving({}) as other:
        there = Answer(302, headers={"Location": f"http://rebound.test:{other.server_port}/x"})
        with serving({}, Trouble(there)) as hub:
            monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.endpoint)
            question = requests.Question(f"{hub.endpoint}/x", "row", RetryBudget())
            with pytest.raises(RowError, match=r"row: the Hub redirects to rebound.test; expected"):
                requests.whole(question, 100)
        close_session()
    assert ("/x" in [request.path for request in hub.log], other.log) == (True, [])
