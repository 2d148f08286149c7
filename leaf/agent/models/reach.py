"""To which servers a connection that a person made may lead.

Whoever signs in to somebody else's Leaf must not reach that somebody's network through it: only
HTTPS and public addresses, unless whoever runs it lists the host. The one person of a Leaf without
sign-in may reach what they reach anyway.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from leaf.errors import InvalidInputError, LeafError

_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""Addresses of this prefix hold an IPv4 address, to which a translator leads."""
_LOCALLY_TRANSLATED = ipaddress.ip_network("64:ff9b:1::/48")
_COMPATIBLE = ipaddress.ip_network("::/96")
LIST_IT = "Whoever runs this Leaf can allow the host with LEAF_OWN_MODEL_HOSTS."


class InnerAddressError(LeafError):
    """A connection that would lead into the network in which Leaf runs."""


@dataclass(frozen=True)
class Reach:
    """What one connection may reach."""

    inner: bool = False
    """Also this machine and its network, and plain HTTP."""
    listed: tuple[str, ...] = ()
    """Hosts of the network that it may reach nevertheless, with a port where only that one."""

    def check(self, url: str) -> None:
        """Raises InvalidInputError for an address that no connection is tried to."""
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        if self.inner or self.lists(host, port):
            return
        if parts.scheme != "https":
            raise InvalidInputError(
                f"The address of {host} begins with http://, and keys travel by https:// only.",
                LIST_IT,
            )
        try:
            public = is_public(host)
        except ValueError:
            return  # a name: its addresses are judged when it is connected to
        if not public:
            raise InvalidInputError(f"{host} is no public address.", LIST_IT)

    def judge(self, host: str, port: int, address: str) -> None:
        """Raises InnerAddressError where this address, which the host has just now, is not to be
        connected to."""
        if not (self.inner or self.lists(host, port) or is_public(address)):
            raise InnerAddressError(f"{host} leads to an address that is not public.", LIST_IT)

    def lists(self, host: str, port: int) -> bool:
        """Whether whoever runs Leaf allows this host."""
        name = host.lower().removesuffix(".")
        name = f"[{name}]" if ":" in name else name
        return name in self.listed or f"{name}:{port}" in self.listed


def is_public(address: str) -> bool:
    """Whether an IP address is one of the internet, and so is what it stands for. Raises ValueError
    for a name."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not ip.is_multicast
    if ip in _LOCALLY_TRANSLATED or ip.is_site_local:
        return False
    if (inside := _inside(ip)) is not None:
        return is_public(str(inside))
    return ip.is_global and not ip.is_multicast


def _inside(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address to which an IPv6 address leads, if it holds one."""
    if ip in _TRANSLATED or ip in _COMPATIBLE:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
