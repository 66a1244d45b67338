"""Users that a reverse proxy has authenticated: it sets a header, and is known by its address."""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from starlette.requests import HTTPConnection

from catchment.dashboard.auth.user import User, is_name
from catchment.errors import RequestRefused, shown

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class TrustedProxy:
    """Take the user from a header that a reverse proxy sets, if the request comes from the proxy's address.

    ``header`` has the name of the user, such as ``X-Forwarded-User``. ``addresses`` are the proxy's: addresses or
    networks, such as ``10.0.0.0/8``. The proxy has to remove this header from what clients send. Users named in
    ``operators`` may act; ``*`` is everybody. All others are viewers.
    """

    def __init__(self, header: str, *, addresses: Iterable[str], operators: Iterable[str] = ()) -> None:
        self.header = header.strip()
        if not _HEADER.fullmatch(self.header):
            raise RequestRefused(
                f"header of a TrustedProxy is {shown(header)}, which no header can be called",
                hint="Such as X-Forwarded-User.",
            )
        self.operators = _names("operators", operators)
        self._networks = [_network(address) for address in _names("addresses", addresses)]
        if not self._networks:
            raise RequestRefused("a TrustedProxy has no address of the proxy", hint="Such as addresses=['10.0.0.5'].")

    def is_from(self, connection: HTTPConnection) -> bool:
        """Does the request come from the proxy itself?"""
        if connection.client is None:
            return False
        try:
            address = ip_address(connection.client.host)
        except ValueError:
            return False
        return any(address in network for network in self._networks)

    def find(self, connection: HTTPConnection) -> User | None:
        """The user that the proxy names."""
        names = connection.headers.getlist(self.header)
        # Two headers: one of them may be the client's own.
        if len(names) != 1 or not self.is_from(connection):
            return None
        name = _text(names[0]).strip()
        if not is_name(name):
            return None
        return User(name, "operator" if {name, "*"} & self.operators else "viewer")


def _text(header: str) -> str:
    """A header, which ASGI reads as Latin-1; proxies write names as UTF-8."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


def _names(what: str, given: Iterable[str]) -> frozenset[str]:
    if isinstance(given, str):
        raise RequestRefused(f"{what} of a TrustedProxy is {shown(given)}, expected a list of them")
    return frozenset(given)


def _network(address: str) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(address.strip(), strict=False)
    except ValueError as error:
        raise RequestRefused(
            f"address of a TrustedProxy is {shown(address)}, expected an IP address or a network",
            hint="Such as 10.0.0.5 or 10.0.0.0/8.",
        ) from error
    if network.prefixlen == 0:
        raise RequestRefused(
            f"address of a TrustedProxy is {shown(address)}, which is every address: anybody could be any user",
            hint="Give the address of the proxy, or its network, such as 10.0.0.5 or 10.0.0.0/8.",
        )
    return network
