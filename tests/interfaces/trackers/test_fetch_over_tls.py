"""The connection goes to the address that was judged, and the certificate is that of the name."""

import datetime as dt
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from postmortem.interfaces.trackers import guarded_fetch
from postmortem.interfaces.trackers.guarded_fetch import GuardedFetch

NAME = "files.example"


class _Echo(BaseHTTPRequestHandler):
    """Says under which name it was asked."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers["Host"].encode())


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for the name, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = dt.datetime.now(dt.timezone.utc)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    path = tmp_path / "certificate.pem"
    path.write_bytes(
        made.public_bytes(pem) + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    )
    return path


@pytest.fixture
def port(certificate: Path) -> Iterator[int]:
    """A server over TLS."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
        thread.start()
        yield int(server.server_address[1])
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", [NAME, "other.example"])
def test_the_certificate_must_be_that_of_the_name(
    certificate: Path, port: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although the address is asked, and not the name."""
    monkeypatch.setattr(guarded_fetch, "is_public", lambda _: True)
    fetch = GuardedFetch([NAME, "other.example"], addresses=lambda *_: ["127.0.0.1"])
    fetch._trusted = ssl.create_default_context(cafile=str(certificate))
    request = fetch._request(httpx.URL(f"https://{name}/run.log"), {})
    request.url = request.url.copy_with(port=port)
    with fetch._client() as client:
        if name == NAME:
            assert client.send(request).text == NAME
        else:
            with pytest.raises(httpx.ConnectError, match="certificate is not valid for"):
                client.send(request)
