# SPDX-License-Identifier: BSD-3-Clause
"""The server of a live session's page: on this machine only, and only with the token.

All paths are below /TOKEN/, which is new for each session and known only to those who have the address. A browser also
sends requests of other sites. So the Host must be ours, and the Origin too if there is one. The page may load nothing
from elsewhere. Any other request gets an empty 403.

    GET events                  server-sent events in JSON: first `network`, then `state` and `frames`
    POST do                     {"do": "move", "node": "sta3", "position": [500, 0]}: 200 {} when done, or
                                422 {"error": "…"}. `verbs` has all
    GET script                  the script so far

`step` has `to`: `slot`, `frame`, `exchange`, `collision` (at most 10 s), or `ns` with `ns`.

`state` has the time (`t_ns` since the start), `routes`, `links` (pairs in range), `counters`, and `rates` in the last
second. `airtime` is seconds of transmission a second, in all and by node. `search` is `on` while it steps to a
collision, and `in vain` if there was none. Each node has `position`, `rts`, `rate`, `tx_power_dbm`, `range_m`,
`sense_m`, `queue`, `nav_ns` (its end; 0: over), `backoff` (slots left; null: none) and `cw`. `doing` is `idle`,
`defer`, `backoff`, `sifs`, `send`, `wait_cts`, `wait_ack`, `receive` or `off`, until `until_ns` (0: open). Each flow
has `kbps` in the last second, `cwnd`, `srtt_ms` and `bytes`.

`frames` are [start_ns, took_ns, kind, from, to, outcome, culprit, length]. At a pace of at most 0.05 they are all
frames, also when they start, with a null outcome.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from emulation.features.live import page, verbs
from emulation.features.live.session import Session
from emulation.lane.errors import Misuse

ADDRESS = "127.0.0.1"
TOKEN_BYTES = 32
MOST_BODY = 1 << 16
SILENCE_S = 10.0  # timeout of a client that neither sends nor reads
ALIVE_S = 5.0  # interval of keep-alive lines on an idle event stream
LAST_S = 1.0  # for pages to read the last events
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Server(ThreadingHTTPServer):
    """Serves a session until the end of the block. Raises OSError if the port is not available."""

    daemon_threads = True

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session, self.token, self.closing = session, secrets.token_urlsafe(TOKEN_BYTES), False
        super().__init__((ADDRESS, port), Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}

    @property
    def address(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    def __enter__(self) -> Server:
        self.thread = threading.Thread(target=self.serve_forever, args=(0.1,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Let the pages read the events that are left, and stop."""
        changed = self.session.changed
        with changed:
            changed.wait_for(lambda: not any(self.session.pages), LAST_S)
            self.closing = True
            changed.notify_all()
        self.shutdown()
        self.thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that has gone."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = SILENCE_S
    server_version, sys_version = "dcflab", ""

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is not HTTP, or an unknown method, without details."""
        known = self.is_ours() if hasattr(self, "headers") and hasattr(self, "path") else False
        self.answer(HTTPStatus(code) if known else HTTPStatus.FORBIDDEN)

    def handle_expect_100(self) -> bool:
        """Refuse a client without the token before it sends its body."""
        if self.is_ours():
            return super().handle_expect_100()
        self.answer(HTTPStatus.FORBIDDEN)
        return False

    def is_ours(self) -> bool:
        """Return whether the request has the token, our Host and, if any, our Origin."""
        token, origin = self.path.split("/", 2)[1:2], self.headers.get("Origin")
        mine = hmac.compare_digest("".join(token).encode(), self.server.token.encode())
        here = self.headers.get("Host", "") in self.server.hosts
        return mine and here and (origin is None or origin in {f"http://{host}" for host in self.server.hosts})

    def do_GET(self) -> None:
        if not self.is_ours():
            return self.answer(HTTPStatus.FORBIDDEN)
        _, _, what = self.path.removeprefix("/").partition("/")
        folder, _, name = what.partition("/")
        if what == "":
            self.file(page.START)
        elif folder == "page":
            self.file(name)
        elif what == "events":
            self.events()
        elif what == "script":
            text = self.server.session.script().encode()
            name = re.sub(r"[^\w.+-]", "_", self.server.session.title, flags=re.ASCII)
            self.answer(HTTPStatus.OK, text, "text/x-python; charset=utf-8",
                        {"Content-Disposition": f'attachment; filename="{name}.py"'})  # fmt: skip
        else:
            self.answer(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        if not self.is_ours():
            return self.answer(HTTPStatus.FORBIDDEN)
        if self.path.partition("/")[2].partition("/")[2] != "do":
            return self.answer(HTTPStatus.NOT_FOUND)
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 10) or "Transfer-Encoding" in self.headers:
            return self.answer(HTTPStatus.LENGTH_REQUIRED)
        if int(length) > MOST_BODY:
            return self.answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        try:
            self.server.session.do(verbs.read(self.rfile.read(int(length))))
        except Misuse as error:
            said = json.dumps({"error": str(error)}).encode()
            return self.answer(HTTPStatus.UNPROCESSABLE_ENTITY, said, "application/json")
        self.answer(HTTPStatus.OK, b"{}", "application/json")

    def file(self, name: str) -> None:
        if not (file := page.found(name)):
            return self.answer(HTTPStatus.NOT_FOUND)
        kind, body = file
        self.answer(HTTPStatus.OK, body, kind)

    def answer(self, status: HTTPStatus, body: bytes = b"", kind: str = "", more: dict[str, str] | None = None) -> None:
        """Send a whole answer. Close the connection after an error, as the request's body has not been read."""
        self.send_response(status)
        headers = {**HEADERS, **({"Content-Type": kind} if kind else {}), **(more or {})}
        if status is not HTTPStatus.OK:
            headers["Connection"] = "close"
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def events(self) -> None:
        """Send events as they happen, until the page or this server closes."""
        session = self.server.session
        self.send_response(HTTPStatus.OK)
        for name, value in {**HEADERS, "Content-Type": "text/event-stream", "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        mine = session.join()
        try:
            while not self.server.closing:
                with session.changed:
                    session.changed.wait_for(lambda: mine or self.server.closing, ALIVE_S)
                    lines = list(mine)
                self.wfile.write(b"".join(b"data: %s\n\n" % line.encode() for line in lines) or b": alive\n\n")
                with session.changed:
                    for _ in range(min(len(lines), len(mine))):
                        mine.popleft()
                    session.changed.notify_all()
        finally:
            session.leave(mine)
