# SPDX-License-Identifier: BSD-3-Clause
"""The server answers requests with the token, and only those."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from properties import examples
from puppet import Puppet, puppet

from emulation.features.live.server import MOST_BODY, Server

NOTHING = examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
FORBIDDEN, OK, NOT_FOUND, REFUSED = 403, 200, 404, 422


class Client:
    def __init__(self, server: Server, lane: Puppet) -> None:
        self.server, self.lane, self.token = server, lane, server.token
        self.host = f"127.0.0.1:{server.server_port}"

    def raw(self, request: bytes) -> bytes:
        """Return all that the server answers to these bytes; nothing more is sent."""
        with socket.create_connection(("127.0.0.1", self.server.server_port), 20) as made:
            with contextlib.suppress(OSError):  # it may have heard enough
                made.sendall(request)
                made.shutdown(socket.SHUT_WR)
            parts = []
            with contextlib.suppress(OSError):
                while part := made.recv(1 << 16):
                    parts.append(part)
        return b"".join(parts)

    def ask(
        self, path: str, method: str = "GET", body: bytes = b"", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body. `path` is below the token unless it begins with /."""
        path = path if path.startswith("/") else f"/{self.token}/{path}"
        said = {"Host": self.host, "Content-Length": str(len(body)), "Connection": "close"}
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items() if value)]
        head, _, rest = self.raw("\r\n".join([*lines, "", ""]).encode("latin-1") + body).partition(b"\r\n\r\n")
        first, *others = head.decode("latin-1").split("\r\n")
        return int(first.split()[1]), dict(line.split(": ", 1) for line in others), rest

    def do(self, verb: str, **what: Any) -> tuple[int, dict[str, str]]:
        status, _, body = self.ask("do", "POST", json.dumps({"do": verb, **what}).encode())
        return status, json.loads(body)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with puppet(tmp_path_factory.mktemp("run")) as lane, Server(lane.session) as server:
        yield Client(server, lane)


def test_who_has_the_token_gets_the_page_and_what_happens(client: Client) -> None:
    status, headers, body = client.ask("")
    assert status == OK and b"<!doctype html>" in body.lower() and headers["Content-Type"].startswith("text/html")
    assert headers["Cache-Control"] == "no-store" and headers["Referrer-Policy"] == "no-referrer"
    assert (
        "default-src 'none'" in headers["Content-Security-Policy"]
        and "unsafe" not in headers["Content-Security-Policy"]
    )
    assert client.ask("page/main.js")[0] == client.ask("page/base.css")[0] == OK
    status, headers, body = client.ask("script")
    assert (status, headers["Content-Disposition"]) == (OK, 'attachment; filename="string.py"')
    compile(body, "string.py", "exec")


def test_events_come_to_all_who_listen(client: Client) -> None:
    def listen() -> Any:
        with socket.create_connection(("127.0.0.1", client.server.server_port), 20) as made:
            made.sendall(f"GET /{client.token}/events HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
            return made.makefile("rb")  # which keeps it open

    def events(stream: Any) -> Iterator[Any]:
        return (json.loads(line.removeprefix(b"data: ")) for line in stream if line.startswith(b"data: "))

    with listen() as one, listen() as other:
        heard = events(one), events(other)
        assert [next(each)["event"] for each in heard] == ["network", "network"]
        assert client.do("move", node="sta2", position=[12.5, 30]) == (OK, {})
        for each in heard:
            assert any(
                event["nodes"]["sta2"]["position"] == [12.5, 30, 0] for event in each if event["event"] == "state"
            )


@pytest.mark.parametrize("path", ["", "events", "script", "page/main.js", "do", "nothing", "../", "page/../../x"])
@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "PUT", "OPTIONS", "TRACE"])
def test_nobody_gets_anything_without_the_token(client: Client, method: str, path: str) -> None:
    """Nor with it, if the Host is another, or another site asks."""
    wrong = f"{client.token[:-1]}{'A' if client.token[-1] != 'A' else 'B'}"
    body = b'{"do": "pause"}'
    for place in (f"/{path}", f"/{wrong}/{path}", f"/{client.token[:-1]}/{path}", f"/x/{client.token}/{path}"):
        status, headers, answer = client.ask(place, method, body)
        assert (status, answer) == (FORBIDDEN, b"") and "Content-Type" not in headers
    for name in ("Host", "Origin"):
        for value in ("evil.example", f"http://evil.example:{client.server.server_port}", "null", "127.0.0.1:1"):
            assert client.ask(path, method, body, **{name: value})[::2] == (FORBIDDEN, b"")


def test_of_this_machine_whatever_it_is_called_all_is_well(client: Client) -> None:
    port = client.server.server_port
    for name in (f"127.0.0.1:{port}", f"localhost:{port}"):
        assert client.ask("do", "POST", b'{"do": "pause"}', Host=name, Origin=f"http://{name}")[0] == OK
    assert client.ask("do", "POST", b'{"do": "pause"}', Host="")[0] == FORBIDDEN


@pytest.mark.parametrize("name", [
    "page/", "page/../server.py", "page/__init__.py", "page/%2e%2e/server.py", "page/..%2fserver.py",
    "page//etc/passwd", "page/main.js/", "page/uplot/uPlot.min.css", "page/\0", "page/main.js?x", "events/", "do",
    "../x", "script/x", "index.html",
])  # fmt: skip
def test_there_is_nothing_but_the_files_of_the_page(client: Client, name: str) -> None:
    assert client.ask(name)[::2] in ((NOT_FOUND, b""), (FORBIDDEN, b""))


def test_what_is_asked_for_is_read_with_care(client: Client) -> None:
    assert client.ask("do", "POST", b"", Content_Length="")[0] == 411
    for length in ("x", "-1", "1e3", "9" * 30, "²"):
        assert client.ask("do", "POST", b"", Content_Length=length)[0] in (411, 403)
    assert client.ask("do", "POST", b"", Content_Length=str(MOST_BODY + 1))[0] == 413
    assert client.ask("do", "POST", b" " * (MOST_BODY - 20) + b'{"do": "pause"}')[0] == OK
    for method in ("PUT", "HEAD", "DELETE"):
        assert client.ask("do", method)[0] == 501
    for body in (
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"do": "reboot"}',
        b'{"do": "pause", "x": 1}',
        b'{"do": ["pause"]}',
        b"\xff",
    ):
        status, _, answer = client.ask("do", "POST", body)
        assert status == REFUSED and json.loads(answer)["error"]


def test_a_refusal_says_why(client: Client) -> None:
    client.lane.refuses["move"] = "sta2: it is nailed down"
    assert client.do("move", node="sta2", position=[0, 0]) == (REFUSED, {"error": "sta2: it is nailed down"})
    client.lane.refuses.clear()
    assert "pace" in client.do("pace", pace=1e9)[1]["error"]
    assert (
        "there is no node sta9; there are: sta1, sta2, sta3"
        in client.do("move", node="sta9", position=[0, 0])[1]["error"]
    )


WORDS = st.sampled_from(["move", "set", "tcp", "start", "stop", "routing", "pace", "pause", "step", "save"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20)
    | st.sampled_from(["sta1", "sta2", "flow1", "full", "slot", "start"]),
    lambda inner: st.lists(inner, max_size=4), max_leaves=6,
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "node",
        "position",
        "rts",
        "rate",
        "tx_power_dbm",
        "flow",
        "congestion",
        "source",
        "destination",
        "to",
        "ns",
        "name",
    ]
)


@given(WORDS, st.dictionaries(KEYS, VALUES, max_size=4))
@NOTHING
def test_whatever_verbs_are_asked_for_it_stays_there(client: Client, verb: str, what: dict[str, Any]) -> None:
    status, said = client.do(verb, **what)
    assert (status == OK and said == {}) or (status == REFUSED and said["error"])


@given(st.binary(max_size=300), st.booleans())
@NOTHING
def test_whatever_bytes_come_nothing_is_given_away(client: Client, junk: bytes, with_token: bool) -> None:
    """After a malformed request, or bytes after a request."""
    begin = f"POST /{client.token}/do HTTP/1.1\r\nHost: {client.host}\r\n".encode() if with_token else b""
    answer = client.raw(begin + junk)
    assert client.token.encode() not in answer and b"Traceback" not in answer and b"500" not in answer[:20]
    if not with_token and answer.startswith(b"HTTP"):
        assert answer.split()[1] == b"403" and answer.endswith(b"\r\n\r\n")
    assert client.do("pause") == (OK, {})


def test_the_server_is_this_machine_s_alone_and_its_token_new_each_time(tmp_path: Path) -> None:
    with puppet(tmp_path) as lane, Server(lane.session) as one, Server(lane.session) as other:
        assert one.server_address[0] == "127.0.0.1" and one.token != other.token and len(one.token) >= 43
        assert one.address == f"http://127.0.0.1:{one.server_port}/{one.token}/"
