"""A guard against addresses that a Hub may not send a program to: those of this machine and of its
networks.
"""

import socket
from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

# IPv4 within IPv6, as translators write it (RFC 6052, section 2.1).
NAT64 = IPv6Network("64:ff9b::/96")
ANY_PORT = 9  # Nothing is sent to it.
Address = IPv4Address | IPv6Address


class LocalRedirectError(Exception):
    """A redirect to an address that is refused. It never leaves the requests of this package."""


def check(request: "httpx2.Request") -> None:
    """Event hook for every request, redirects included: refuse hosts other than the configured
    Hub that are at an address of this machine, or at one that is not public unless the Hub is.

    The name is resolved here, and again for the connection, whose address is therefore checked once
    more, before anything is sent.

    errors: LocalRedirectError
    """
    import httpx2
    from huggingface_hub import constants

    endpoint, host = httpx2.URL(constants.ENDPOINT), _host(request.url)
    if is_hub(request.url):
        return
    _check_all(host, _resolved(host), endpoint)
    request.extensions["trace"] = _peer_check(host, endpoint)


def is_hub(url: "httpx2.URL") -> bool:
    """Whether an address is one of the configured Hub."""
    import httpx2
    from huggingface_hub import constants

    return _origin(url) == _origin(httpx2.URL(constants.ENDPOINT))


def _peer_check(host: str, endpoint: "httpx2.URL") -> Callable[[str, Mapping[str, Any]], None]:
    """What httpx calls at every step of a request. Connections to a proxy are not checked."""
    connected = [""]

    def trace(event: str, details: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.started":
            connected[0] = details["host"]
        if event == "connection.connect_tcp.complete" and connected[0] == host:
            peer = details["return_value"].get_extra_info("server_addr")
            try:
                _check_all(host, [ip_address(peer[0].partition("%")[0])], endpoint)
            except LocalRedirectError:
                details["return_value"].close()
                raise

    return trace


def _check_all(host: str, addresses: list[Address], endpoint: "httpx2.URL") -> None:
    for address in map(_without_translation, addresses):
        if _is_local(address) or (
            not _is_public(address) and all(map(_is_public, _resolved(_host(endpoint))))
        ):
            raise LocalRedirectError(host)


def _resolved(host: str) -> list[Address]:
    """The addresses of a host; none for a name that only a proxy resolves, or nothing does.

    errors: LocalRedirectError for a name that is none
    """
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except UnicodeError:  # With an empty label, or one of more than 63 letters.
        raise LocalRedirectError(host) from None
    except OSError:
        return []
    return [ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]


def _without_translation(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where there is one."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(address.packed[-4:])
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: Address) -> bool:
    address = _without_translation(address)
    is_of_site = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not (address.is_multicast or address.is_reserved or is_of_site)


def _is_local(address: Address) -> bool:
    """Whether an address is one of this machine, or valid on its link alone."""
    if address.is_loopback or address.is_link_local or address.is_unspecified:
        return True
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            # Sends nothing; the way to an address of this machine begins at this address.
            probe.connect((str(address), ANY_PORT))
            return bool(ip_address(probe.getsockname()[0].partition("%")[0]) == address)
    except OSError:  # No way leads there.
        return False


def _origin(url: "httpx2.URL") -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _host(url: "httpx2.URL") -> str:
    return url.raw_host.decode("ascii")
