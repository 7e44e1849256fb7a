"""Tell whether an address leads to this machine.

In: a host as an address names it. Out: whether it is this machine. Not here: looking names up.
"""

import ipaddress


def is_loopback(host: str) -> bool:
    """Say whether an address, or a name, is this machine's alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
