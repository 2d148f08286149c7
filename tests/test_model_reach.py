"""Where a person's own connection may lead: not into the network of whoever runs Leaf, by no address, name,
redirect or proxy."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from leaf.agent.models import judged, reach
from leaf.agent.models.reach import InnerAddressError, Reach, is_public
from leaf.errors import InvalidInputError, LeafError, ModelError
from tests.leaf_kit import finished, opened, text_of
from tests.messages_server import MessagesServer, Turn
from tests.models_kit import asked, says, server_draft, signed_in
from tests.runs_kit import wait_until


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0"),
        *("fc00::1", "fec0::1", "ff02::1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1"),
        *("2002:7f00:1::", "2001:0:808:808:0:0:f5ff:fffe", "64:ff9b:1::1"),
    ],
)
def test_an_address_that_is_not_of_the_internet_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://models.example.org", "https:// only"),
        ("https://127.0.0.1", "no public address"),
        ("https://10.0.0.5:8443", "no public address"),
        ("https://[::1]", "no public address"),
        ("https://[::ffff:169.254.169.254]", "no public address"),
        ("https://localhost:9", "not public"),
        ("https://127.1", "not public"),
        ("https://2130706433", "not public"),
    ],
)
def test_whoever_signs_in_does_not_reach_the_network_of_the_operator(
    tmp_path: Path, url: str, sentence: str
) -> None:
    with opened(tmp_path, own_models="on") as leaf:
        ann = signed_in(leaf, "Ann")
        assert ann.models.connection().restricted
        with pytest.raises(LeafError, match=sentence):
            ann.models.test(server_draft(url))


def test_a_saved_name_is_judged_whenever_it_is_connected_to(tmp_path: Path) -> None:
    with opened(tmp_path, own_models="on") as leaf:
        ann = signed_in(leaf, "Ann")
        ann.models.save(server_draft("https://localhost:9"))
        message = asked(ann)
    assert message.status == "error"
    assert "leads to an address that is not public" in message.error


def test_a_listed_host_may_be_reached_and_only_at_its_port(tmp_path: Path) -> None:
    with MessagesServer(says("ok")) as server, MessagesServer(says("no")) as other:
        listed = (server.url.removeprefix("http://"),)
        with opened(tmp_path, own_models="on", own_model_hosts=listed) as leaf:
            ann = signed_in(leaf, "Ann")
            ann.models.save(server_draft(server.url))
            assert text_of(asked(ann)) == "ok"
            with pytest.raises(InvalidInputError, match="https:// only"):
                ann.models.test(server_draft(other.url))
        with opened(tmp_path, own_models="on") as leaf:  # taken off the list
            message = asked(signed_in(leaf, "Ann"))
    assert message.status == "error"
    assert "https:// only" in message.error
    assert other.connections == 0
    assert len(server.requests) == 1


def test_a_redirect_is_not_followed_and_takes_no_key_along(tmp_path: Path) -> None:
    with MessagesServer(says("inner")) as inner, MessagesServer(moved_to=inner.url) as outer:
        listed = (outer.url.removeprefix("http://"),)
        with opened(tmp_path, own_models="on", own_model_hosts=listed) as leaf:
            ann = signed_in(leaf, "Ann")
            ann.models.save(server_draft(outer.url))
            assert asked(ann).status == "error"
    assert inner.connections == 0


def test_the_address_that_was_judged_is_the_one_that_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that is public when it is looked up first, and this machine from then on."""
    looked_up: list[str] = []
    real = socket.getaddrinfo

    def rebinding(host: str, *given: Any, **more: Any) -> Any:
        if host != "rebinding.example.org":
            return real(host, *given, **more)
        looked_up.append(host)
        return real("127.0.0.2" if len(looked_up) == 1 else "127.0.0.1", *given, **more)

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    monkeypatch.setattr(reach, "is_public", lambda address: address == "127.0.0.2")
    with MessagesServer(says("inner")) as server, judged.client(Reach()) as client:
        port = server.url.rpartition(":")[2]
        with pytest.raises(Exception, match="refused"):
            client.get(f"http://rebinding.example.org:{port}/v1/models")
        with pytest.raises(InnerAddressError):
            client.get(f"http://rebinding.example.org:{port}/v1/models")
    assert len(looked_up) == 2
    assert server.connections == 0


def test_no_proxy_of_the_environment_looks_names_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with MessagesServer() as proxy, judged.client(Reach()) as client:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        with pytest.raises(InnerAddressError):
            client.get("http://localhost:9/")
    assert proxy.connections == 0


def test_a_response_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judged, "MOST_BYTES", 10)
    with MessagesServer() as server:
        host = server.url.removeprefix("http://")
        client = judged.client(Reach(listed=(host,)), headers={"x-api-key": "k"})
        with client, pytest.raises(Exception, match="too long"):
            client.get(f"{server.url}/v1/models")


@contextmanager
def over_tls(server: MessagesServer, folder: Path) -> Iterator[Path]:
    """The server speaks HTTPS as localhost, with a certificate of its own making, which is given."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "cert.pem", folder / "key.pem"
    public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(public, private)
    server._http.socket = tls.wrap_socket(server._http.socket, server_side=True)
    with server:
        yield public


def test_certificates_are_checked_by_the_name_and_over_the_judged_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = MessagesServer(says("ok"))
    port = server.url.rpartition(":")[2]
    listed = (f"localhost:{port}", f"127.0.0.1:{port}")
    with over_tls(server, tmp_path) as trusted:
        home = tmp_path / "home"
        with opened(home, own_models="on", own_model_hosts=listed) as leaf:
            ann = signed_in(leaf, "Ann")
            draft = server_draft(f"https://localhost:{port}")
            with pytest.raises(ModelError, match="certificate of localhost is not trusted"):
                ann.models.test(draft)
            monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
            assert ann.models.test(draft).model == draft.model
            with pytest.raises(ModelError, match=r"certificate of 127.0.0.1 is not trusted"):
                ann.models.test(server_draft(f"https://127.0.0.1:{port}"))
            with pytest.raises(ModelError):
                ann.models.test(server_draft(f"http://localhost:{port}"))


def test_a_stop_ends_an_answer_of_a_judged_connection_at_once(tmp_path: Path) -> None:
    with MessagesServer([Turn.say("never", stall_after=2)]) as server:
        listed = (server.url.removeprefix("http://"),)
        with opened(tmp_path, own_models="on", own_model_hosts=listed) as leaf:
            ann = signed_in(leaf, "Ann")
            ann.models.save(server_draft(server.url))
            answer = ann.messages.send(ann.chats.create().id, "hello")
            wait_until(lambda: bool(server.requests))
            ann.messages.stop(answer.id)
            assert finished(ann, answer.id).status == "stopped"
            assert server.left.wait(5)
