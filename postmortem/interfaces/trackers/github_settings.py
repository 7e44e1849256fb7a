"""The settings of the GitHub tracker.

In: plain values. Out: `GithubSettings`. Not here: secrets, which are only named here.
"""

from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from postmortem.interfaces.trackers.secret_values import SecretName
from postmortem.interfaces.trackers.server_address import check_server_address

PUBLIC_API: Final = "https://api.github.com"


def _check_server(address: str) -> str:
    return check_server_address(address, "https://HOST/api/v3")


class GithubSettings(BaseModel):
    """One identity on one server."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    secret: SecretName | None = None
    """Of the webhook."""
    token: SecretName | None = None
    """A personal token, or that of a workflow."""
    app_id: int | None = None
    private_key: SecretName | None = None
    installation: int | None = None
    """Of the app; asked for where it is not given."""
    account: str = Field("github-actions[bot]", max_length=100)
    """Who writes with a token that belongs to nobody, as that of a workflow does."""
    api_url: Annotated[str, AfterValidator(_check_server)] = PUBLIC_API
    """Of GitHub Enterprise Server: https://HOST/api/v3."""
    seconds: float = Field(30.0, gt=0, le=300)
    """That one request may take."""
    file_hosts: tuple[str, ...] = ()
    """Further hosts that links and redirects to files may lead to."""

    @model_validator(mode="after")
    def _one_identity(self) -> "GithubSettings":
        if (self.token is None) == (self.app_id is None):
            raise ValueError("give either token, or app_id and private_key")
        if (self.app_id is None) != (self.private_key is None):
            raise ValueError("app_id and private_key belong together")
        return self

    @property
    def web_url(self) -> str:
        """Give the address that people use."""
        if self.api_url == PUBLIC_API:
            return "https://github.com"
        scheme, _, rest = self.api_url.partition("://")
        return f"{scheme}://{rest.partition('/')[0]}"
