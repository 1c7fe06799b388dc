# SPDX-License-Identifier: BSD-3-Clause
"""What a real browser makes of a page, without a network: of a file, or of what this machine serves. Tests control it
by its DevTools protocol."""

import asyncio
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LISTENS = re.compile(r"DevTools listening on (ws://\S+)")
LARGEST, LONGEST_S, PATIENCE_S = 1 << 28, 120, 60
# `{what}` is the test's program: `press` is a key, `point` a pointer, `when` waits, and `said` is returned.
PROGRAM = """(async () => {
const said = {};
const press = (key, shiftKey = false) =>
  document.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
const point = (canvas, what, [x, y], more = {}) => {
  const { left, top } = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {};
  const of = { pointerId: 1, bubbles: true, cancelable: true, clientX: x + left, clientY: y + top, ...more };
  canvas.dispatchEvent(what === "wheel" ? new WheelEvent(what, of) : new PointerEvent(what, of));
};
const pull = (canvas, from, to, more) => {
  point(canvas, "pointerdown", from, more);
  for (const what of ["pointermove", "pointerup"]) point(canvas, what, to, more);
};
const turn = () => new Promise((done) => setTimeout(done, 5));
const when = async (there) => {
  const begun = performance.now();
  while (!there()) {
    if (performance.now() - begun > 1000 * {patience}) throw new Error(`in vain for ${there}`);
    await turn();
  }
};
try { {what} } catch (error) { errors.push(String(error.stack ?? error)); }
return { ...said, errors };
})()"""
WATCH = (
    "const errors = []; addEventListener('error', (e) => errors.push(e.message));"
    "addEventListener('unhandledrejection', (e) => errors.push(String(e.reason)));"
    "addEventListener('securitypolicyviolation', (e) => errors.push(e.blockedURI));"
)


def look(page: str, what: str, folder: Path, address: str = "", size: tuple[int, int] = (1200, 800)) -> dict[str, Any]:
    """Run a program in a page that is one file; return its output. There must be no errors."""
    file = folder / "page.html"
    file.write_text(page)
    with chromium(folder) as browser:
        return visit(browser, file.as_uri() + address, what, size)


@contextmanager
def chromium(folder: Path) -> Iterator[str]:
    """Start a browser, and yield the address at which it is controlled; end it afterwards."""
    command = [str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
               "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={folder}/profile",
               "about:blank"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stderr
            yield next(filter(None, map(LISTENS.search, process.stderr)))[1]
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def visit(browser: str, address: str, what: str, size: tuple[int, int] = (1200, 800)) -> dict[str, Any]:
    """Run a program in the page at this address, in a new window; return its output. There must be no errors."""
    program = PROGRAM.replace("{patience}", str(PATIENCE_S)).replace("{what}", what)
    said = asyncio.run(asyncio.wait_for(_ask(browser, address, program, size), LONGEST_S))
    errors = said.pop("errors")
    assert errors == [], (errors, said)
    return said


async def _ask(browser: str, address: str, program: str, size: tuple[int, int]) -> dict[str, Any]:
    """Return what the program returns, once the page at this address is loaded."""
    socket = await websocket_connect(browser, max_message_size=LARGEST)
    try:
        return await _asked(socket, address, program, size)
    finally:
        socket.close()
        while await socket.read_message() is not None:
            pass  # until the browser has closed its side, too: the loop ends next, and closes nothing


async def _asked(
    socket: WebSocketClientConnection, address: str, program: str, size: tuple[int, int]
) -> dict[str, Any]:
    """The same, over an open socket."""
    numbers = itertools.count(1)

    async def until(wanted: Any) -> dict[str, Any]:
        """Return the next wanted message."""
        while True:
            message: dict[str, Any] = json.loads(await socket.read_message() or "{}")
            if wanted(message):
                return message

    async def call(method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(numbers)
        of = {"sessionId": session} if session else {}
        await socket.write_message(json.dumps({"id": number, "method": method, "params": parameters, **of}))
        answer = await until(lambda message: message.get("id") == number)
        assert "error" not in answer, answer
        found: dict[str, Any] = answer["result"]
        return found

    target = (await call("Target.createTarget", url="about:blank"))["targetId"]
    session = (await call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
    width, height = size
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    await call("Emulation.setDeviceMetricsOverride", session, **screen)
    await call("Page.enable", session)
    await call("Page.addScriptToEvaluateOnNewDocument", session, source=WATCH)
    await call("Page.navigate", session, url=address)
    await until(lambda message: message.get("method") == "Page.loadEventFired")
    found = await call("Runtime.evaluate", session, expression=program, awaitPromise=True, returnByValue=True)
    assert "exceptionDetails" not in found, found
    await call("Target.closeTarget", targetId=target)
    said: dict[str, Any] = found["result"]["value"]
    return said
