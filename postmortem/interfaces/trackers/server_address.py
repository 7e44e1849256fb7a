"""Check the address of a tracker's server, to which credentials are sent.

In: a text of the settings. Out: the same, checked. Not here: addresses of files
(`trackers.guarded_fetch`).
"""

from postmortem.core.host.own_addresses import is_loopback


def check_server_address(address: str, example: str) -> str:
    """Check an address: https, or http to this machine itself.

    Raises:
        ValueError: it is none; what stands there is not repeated.
    """
    scheme, mark, rest = address.rstrip("/").partition("://")
    host = rest.partition("/")[0].rpartition(":")[0] or rest.partition("/")[0]
    if not mark or not rest or {*rest} & {*"@?# "}:
        raise ValueError(f"write {example}")
    if scheme != "https" and not (scheme == "http" and is_loopback(host.strip("[]"))):
        raise ValueError("only https, or http to this machine itself")
    return f"{scheme}://{rest}"
