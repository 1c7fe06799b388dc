# SPDX-License-Identifier: BSD-3-Clause
"""What a real browser, without a network, makes of a page that is one file. It is asked by its DevTools protocol."""

import asyncio
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

from tornado.websocket import websocket_connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LISTENS = re.compile(r"DevTools listening on (ws://\S+)")
LARGEST, LONGEST_S = 1 << 28, 120
# What a test does in the page is where `{what}` stands: `press` is a key, `when` waits, and `said` is handed back.
PROGRAM = """(async () => {
const said = {};
const press = (key, shiftKey = false) =>
  document.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
const turn = () => new Promise((done) => setTimeout(done, 5));
const when = async (there) => { while (!there()) await turn(); };
try { {what} } catch (error) { errors.push(String(error.stack ?? error)); }
return { ...said, errors };
})()"""
WATCH = (
    "<script>const errors = []; addEventListener('error', (e) => errors.push(e.message));"
    "addEventListener('unhandledrejection', (e) => errors.push(String(e.reason)));"
    "addEventListener('securitypolicyviolation', (e) => errors.push(e.blockedURI));</script>"
)


def look(page: str, what: str, folder: Path, address: str = "", size: tuple[int, int] = (1200, 800)) -> dict[str, Any]:
    """What a program in the page said, of which there must be no errors."""
    file = folder / "page.html"
    file.write_text(page.replace("<title>", WATCH + "<title>", 1))
    command = [str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
               "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", f"--user-data-dir={folder}/profile",
               "about:blank"]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stderr
            found = next(filter(None, map(LISTENS.search, process.stderr)))
            program = PROGRAM.replace("{what}", what)
            said = asyncio.run(asyncio.wait_for(_ask(found[1], file.as_uri() + address, program, size), LONGEST_S))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    assert said.pop("errors") == [], said
    return said


async def _ask(browser: str, address: str, program: str, size: tuple[int, int]) -> dict[str, Any]:
    """What the program returns, once the page at this address is loaded."""
    socket = await websocket_connect(browser, max_message_size=LARGEST)
    numbers = itertools.count(1)

    async def until(wanted: Any) -> dict[str, Any]:
        """The next message that is wanted."""
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
    await call("Page.navigate", session, url=address)
    await until(lambda message: message.get("method") == "Page.loadEventFired")
    found = await call("Runtime.evaluate", session, expression=program, awaitPromise=True, returnByValue=True)
    assert "exceptionDetails" not in found, found
    said: dict[str, Any] = found["result"]["value"]
    return said
