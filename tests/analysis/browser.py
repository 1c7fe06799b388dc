# SPDX-License-Identifier: BSD-3-Clause
"""What a real browser, without a network, makes of a page that is one file."""

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# What a test does in the page is where `{what}` stands; `press` is a key, `when` waits, and `said` is handed back. The
# browser's time is virtual: timers, of which `when` has none, would use it up while another thread works.
PROGRAM = """
const said = {};
const press = (key, shiftKey = false) =>
  document.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
const turn = () => new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = done;
  port2.postMessage(0);
});
const when = async (there) => { while (!there()) await turn(); };
async function look() { {what} }
look().catch((error) => { said.error = String(error.stack ?? error); }).then(() => {
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify({ ...said, errors });
  document.body.append(result);
});
"""
WATCH = (
    "<script>const errors = []; addEventListener('error', (e) => errors.push(e.message));"
    "addEventListener('unhandledrejection', (e) => errors.push(String(e.reason)));"
    "addEventListener('securitypolicyviolation', (e) => errors.push(e.blockedURI));</script>"
)


def look(page: str, what: str, folder: Path, address: str = "", size: str = "1200,800") -> dict[str, Any]:
    """What a program in the page said, and the page's `errors`, which must be none."""
    file = folder / "page.html"
    program = f"<script>{PROGRAM.replace('{what}', what)}</script></body>"
    file.write_text(page.replace("<title>", WATCH + "<title>", 1).replace("</body>", program))
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND",
               f"--window-size={size}", f"--user-data-dir={folder}/profile", "--virtual-time-budget=60000",
               "--dump-dom", f"{file.as_uri()}{address}"]  # fmt: skip
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    said: dict[str, Any] = json.loads(unescape(found[1]))
    assert said.pop("errors") == [] and "error" not in said, said
    return said
