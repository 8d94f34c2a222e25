# SPDX-License-Identifier: GPL-2.0-only
"""A browser under the tests' control, and the native simulator for comparison."""

import base64
import fcntl
import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from selftests.lib.programs import BUILD, run_program

PROGRAM = BUILD / "approxftl"
PAGE = BUILD / "playground.html"
COMMAND = BUILD / "wasm" / "sim.wasm"

needs_page = pytest.mark.skipif(
    not PAGE.exists(), reason="the playground was not built: clang, lld, wasi-libc or "
    "libclang-rt-dev-wasm32 is missing")

#: Chromium's options for a test: no network, no graphics card, no background processes.
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
           "--host-resolver-rules=MAP * ~NOTFOUND", "--no-first-run", "--mute-audio",
           "--disable-background-networking", "--disable-component-update",
           "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows")


def run_native_simulation(*arguments: str, directory: Path | None = None) -> dict[str, Any]:
    """Return the result of approxftl sim, or its error message."""
    done = run_program(PROGRAM, "sim", *arguments, "--json", directory=directory)
    if done.code:
        return {"refused": done.err.strip().removeprefix("approxftl sim: ")}
    said: dict[str, Any] = json.loads(done.out)
    return said


class Browser:
    """Chromium, driven through a pipe by the DevTools protocol."""

    def __init__(self, profile: Path) -> None:
        """Start the browser with an empty profile."""
        ours, theirs = os.pipe(), os.pipe()
        # Chromium reads file descriptor 3 and writes 4.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (ours[0], theirs[1])]
        self.process = os.posix_spawnp(
            "chromium", ["chromium", *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            os.environ, file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, 1, 2), (os.POSIX_SPAWN_DUP2, ends[0], 3),
                (os.POSIX_SPAWN_DUP2, ends[1], 4)])
        for end in (*ends, ours[0], theirs[1]):
            os.close(end)
        self.to = os.fdopen(ours[1], "wb", buffering=0)
        self.back = theirs[0]
        self.unread = b""
        self.number = 0
        self.session: str | None = None
        #: Requests beyond the page itself, and messages in the console.
        self.requested: list[str] = []
        self.said: list[str] = []
        self.page = Path()
        targets = self.call_method("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = self.call_method("Target.attachToTarget", targetId=page["targetId"],
                                        flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call_method(f"{domain}.enable")

    def _record_event(self, event: dict[str, Any]) -> None:
        method, params = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"][:80])
        elif method in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.said.append(json.dumps(params)[:600])
        elif method == "Runtime.consoleAPICalled":
            self.said.append(json.dumps(params["args"])[:600])

    def _read_message(self) -> dict[str, Any]:
        while b"\0" not in self.unread:
            got = os.read(self.back, 1 << 16)
            if not got:
                raise EOFError("the browser has gone")
            self.unread += got
        said, _, self.unread = self.unread.partition(b"\0")
        message: dict[str, Any] = json.loads(said)
        return message

    def call_method(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the DevTools protocol and return its result."""
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if self.session:
            asked["sessionId"] = self.session
        self.to.write(json.dumps(asked).encode() + b"\0")
        while (message := self._read_message()).get("id") != self.number:
            self._record_event(message)
        assert "error" not in message, message
        result: dict[str, Any] = message["result"]
        return result

    def run_script(self, script: str) -> Any:
        """Evaluate a JavaScript expression in the page; a promise is awaited."""
        found = self.call_method("Runtime.evaluate", expression=script, awaitPromise=True,
                                 returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def load_web_page(self, page: Path) -> None:
        """Load any page and wait until it is complete."""
        self.page = page
        self.call_method("Page.navigate", url="about:blank")
        self.call_method("Page.navigate", url=page.as_uri())
        self.run_script("""new Promise((done) => document.readyState === "complete" ? done() :
            addEventListener("load", done))""")

    def open_playground(self, page: Path, address: str = "") -> None:
        """Load the playground at an address and wait until it shows a state or an error."""
        self.call_method("Page.navigate", url="about:blank")
        self.call_method("Page.navigate", url=page.as_uri() + (address or "#at=2000"))
        self.run_script("""new Promise((done) => {
            const look = () => document.body && (document.body.dataset.ready ||
                !(document.getElementById("trouble") || {hidden: true}).hidden) ? done() :
                setTimeout(look, 20);
            look();
        })""")

    def set_screen_size(self, width: int, height: int) -> None:
        """Set the size of the browser's screen in pixels."""
        self.call_method("Emulation.setDeviceMetricsOverride", width=width, height=height,
                         deviceScaleFactor=1, mobile=width < 500)

    def close_browser(self) -> None:
        self.session = None
        self.to.write(json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        self.to.close()
        os.waitpid(self.process, 0)
        os.close(self.back)


def load_playground(browser: Browser, address: str = "#b=&at=0") -> None:
    """Load the playground at an address, which must not show an error."""
    browser.open_playground(PAGE, address)
    trouble = browser.run_script("document.getElementById('trouble').hidden || "
                                 "document.getElementById('trouble').textContent")
    assert trouble is True, trouble


def read_element_text(browser: Browser, name: str) -> str:
    text: str = browser.run_script(f"document.getElementById('{name}').textContent")
    return text


def simulate_shown_commands(browser: Browser, directory: Path | None = None) -> list[str]:
    """Run the page's command lines natively; return the digest of each simulated device."""
    found = []
    for line in read_element_text(browser, "command").splitlines():
        words = shlex.split(line)
        assert words[:2] == ["approxftl", "sim"]
        found += [run["digest"]
                  for run in run_native_simulation(*words[2:], directory=directory)["runs"]]
    return found


def drop_file(browser: Browser, name: str, content: bytes) -> str:
    """Drop a file on the page; return the page's description of the file, or its error message."""
    text: str = browser.run_script(f"""(async () => {{
        const bytes = Uint8Array.from(atob("{base64.b64encode(content).decode()}"),
            (letter) => letter.charCodeAt(0));
        await takeFile(new File([bytes], {json.dumps(name)}));
        return document.getElementById("trouble").hidden ?
            document.getElementById("file-text").textContent :
            document.getElementById("trouble").textContent;
    }})()""")
    return text
