"""The settings of the GitLab tracker.

In: plain values. Out: `GitlabSettings`. Not here: secrets, which are only named here.
"""

from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict

from postmortem.interfaces.trackers.secret_values import SecretName
from postmortem.interfaces.trackers.server_address import check_server_address

PUBLIC_SERVER: Final = "https://gitlab.com"


def _check_server(address: str) -> str:
    return check_server_address(address.rstrip("/").removesuffix("/api/v4"), "https://HOST")


class GitlabSettings(BaseModel):
    """One identity on one server."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    token: SecretName
    """Of a project, a group or a person, with the scope `api`."""
    secret: SecretName | None = None
    """The secret token of the webhook: it comes with each delivery."""
    signing: SecretName | None = None
    """The signing token of the webhook, `whsec_…`: each delivery is signed with it."""
    api_url: Annotated[str, AfterValidator(_check_server)] = PUBLIC_SERVER
    """Of a server of one's own: https://HOST, with or without /api/v4."""
    file_hosts: tuple[str, ...] = ()
    """Hosts that redirects to files may lead to: where the server keeps them elsewhere."""
