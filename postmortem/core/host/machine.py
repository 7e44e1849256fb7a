"""Tell this machine from others: names of its processes, and the addresses that lead to it.

In: the name of a process; an address or a host as text. Out: whether that process is known to be
gone; whether an address is public, of a machine's own network, or this machine. Not here: leases
(`store`), looking names up.

An IPv6 address may carry an IPv4 one, which a translator or a tunnel on the way takes out: both are
judged.
"""

import ipaddress
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


def build_owner_name() -> str:
    """Give the name of this process: its machine since when it is up, its id, when it began."""
    process = os.getpid()
    return f"{_identify_machine()}/{process}/{_read_start_time(process)}"


def is_gone(name: str) -> bool:
    """Say whether a process is known to have ended: one of another machine never is."""
    machine, _, rest = name.rpartition("/")
    machine, _, process = machine.rpartition("/")
    if machine != _identify_machine() or not process.isdigit():
        return False
    return _read_start_time(int(process)) != rest


def _identify_machine() -> str:
    try:
        return f"{socket.gethostname()}/{_BOOT.read_text(encoding='ascii').strip()}"
    except OSError:
        return socket.gethostname()


def _read_start_time(process: int) -> str:
    """Give when a process began, in ticks since the start of the machine; empty if it is gone.

    Where there is no /proc, `alive` stands for it.
    """
    if not Path("/proc/self/stat").is_file():
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return ""
        except OSError:
            return "alive"
        return "alive"
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    is_zombie = fields[0] in {"Z", "X"}
    return "" if is_zombie else fields[19]


def is_loopback(host: str) -> bool:
    """Say whether an address, or a name, is this machine's alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_GLOBAL_V6: Final = ipaddress.ip_network("2000::/3")
"""All that is given out to the open network; whatever is outside has a meaning of its own."""
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
"""Leads to the IPv4 address that it carries, wherever that is."""
_SPECIAL: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        "192.0.0.0/24",  # protocols of the IETF, and of clouds
        "192.88.99.0/24",  # the nearest relay
        "168.63.129.16/32",  # Azure's host, under an address that looks public
        "2001::/23",  # Teredo, benchmarks, identifiers
        "2001:db8::/32",
        "3fff::/20",  # documentation
    )
)
"""Of the special ranges those that not every version of `ipaddress` knows."""
_PLACES: Final = (
    ("::/96", 96),
    ("::ffff:0:0/96", 96),  # mapped
    ("::ffff:0:0:0/96", 96),  # translated without state
    ("64:ff9b::/96", 96),
    ("64:ff9b:1::/48", 96),
    ("2002::/16", 16),
    ("2001::/32", 32),  # Teredo: the server
)
_CARRIERS: Final = tuple((ipaddress.ip_network(text), start) for text, start in _PLACES)
"""Networks whose addresses carry an IPv4 one, and behind how many bits."""
_ISATAP: Final = (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def is_public(text: str) -> bool:
    """Say whether an address is one of the open network, and so is each that it carries."""
    address = _parse_address(text)
    return address is not None and all(map(_is_open, (address, *_list_carried_addresses(address))))


def is_link_local(text: str) -> bool:
    """Say whether an address, or one that it carries, is link-local; a name is not."""
    address = _parse_address(text)
    return address is not None and any(
        carried.is_link_local for carried in (address, *_list_carried_addresses(address))
    )


def _parse_address(text: str) -> _Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _is_open(address: _Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return True
        if address not in _GLOBAL_V6:
            return False
    is_tunnel = isinstance(address, ipaddress.IPv6Address) and address.sixtofour is not None
    return (
        (address.is_global or is_tunnel)
        and not address.is_multicast
        and not any(address in network for network in _SPECIAL)
    )


def _list_carried_addresses(address: _Address) -> Iterator[ipaddress.IPv4Address]:
    """Yield the IPv4 addresses in an IPv6 one."""
    if isinstance(address, ipaddress.IPv4Address):
        return
    for network, start in _CARRIERS:
        if address in network:
            yield ipaddress.IPv4Address(int(address) >> (96 - start) & 0xFFFF_FFFF)
    if address.teredo is not None:
        yield address.teredo[1]
    if address.packed[8:12] in _ISATAP:
        yield ipaddress.IPv4Address(address.packed[12:])
