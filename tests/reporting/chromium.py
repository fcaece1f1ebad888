"""Headless Chromium, driven through its DevTools pipe: pages are opened, touched, asked and photographed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

#: The browser's path, or None where there is no Chromium.
CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
# Chromium talks on descriptors 3 and 4; a process in between can put the pipes there whatever their numbers are.
_LAUNCHER = (
    "import fcntl, os, sys\n"
    "read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 100) for number in sys.argv[1:3])\n"
    "os.dup2(read, 3); os.dup2(write, 4)\n"
    "os.execv(sys.argv[3], sys.argv[3:])"
)
_PATIENCE = 30.0  # seconds until a silent browser counts as broken


class Browser:
    """One browser with one tab."""

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM is not None
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        command = [sys.executable, "-c", _LAUNCHER, str(to_read), str(to_write), CHROMIUM, *_FLAGS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._number, self._buffer, self._session = 0, b"", ""
        self.messages: list[str] = []
        self.requests: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._write)  # the browser leaves when its pipe closes
        os.close(self._read)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], _PATIENCE)
            assert ready, "Chromium does not answer"
            piece = os.read(self._read, 1 << 20)
            assert piece, "Chromium has ended"
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.messages.append(str(event["params"]["exceptionDetails"]))
            case "Log.entryAdded" if event["params"]["entry"]["level"] == "error":
                self.messages.append(event["params"]["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(event["params"]["request"]["url"])

    def open(self, page: Path, fragment: str = "", size: tuple[int, int] = (1400, 900), *, dark: bool = False) -> None:
        """Load a page and wait until its picture rests."""
        self.messages.clear()
        self.requests.clear()
        self.resize(size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call("Page.navigate", url="about:blank")  # a new fragment alone would not load the page again
        self._call("Page.navigate", url=page.as_uri() + fragment)
        self.rest()

    def resize(self, size: tuple[int, int], ratio: int = 1) -> None:
        """Give the window another size, and so many dots of the screen to a pixel of the page."""
        wide, high = size
        self._call("Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=ratio, mobile=False)

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def rest(self) -> None:
        """Wait until the page has drawn everything and nothing moves."""
        until = time.monotonic() + _PATIENCE
        if self.ask("document.readyState") == "complete":
            self.settle()
        while self.ask("document.getElementById('ink')?.dataset.still") != "true":
            assert time.monotonic() < until, f"the page does not come to rest: {self.messages}"
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait until what was done is drawn."""
        self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def state(self) -> dict[str, str]:
        """What the page says of itself: the selected and hovered node, the one in the middle, labels, zoom."""
        state: dict[str, str] = self.ask("({...document.getElementById('ink').dataset})")
        return state

    def text(self, selector: str) -> str:
        """The visible text of an element."""
        text: str = self.ask(f"document.querySelector({json.dumps(selector)}).innerText")
        return text

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """One mouse event: Pressed, Released, Moved or Wheel, at a place of the window."""
        self._call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        """Press and release the left button."""
        self.mouse("Moved", x, y)
        for kind in ("Pressed", "Released"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def double_click(self, x: float, y: float) -> None:
        """Two clicks that the page takes for 0.2 seconds apart, though what the first began has come to rest."""
        now = time.time()
        for count in (1, 2):
            for kind in ("Pressed", "Released"):
                self.mouse(kind, x, y, button="left", clickCount=count, timestamp=now + 0.2 * (count - 1))
            self.rest()

    def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """Hold the left button from one place to another."""
        self.mouse("Pressed", *begin, button="left", clickCount=1)
        for share in (0.3, 0.7, 1.0):
            x, y = (b + share * (e - b) for b, e in zip(begin, end, strict=True))
            self.mouse("Moved", x, y, button="left", buttons=1)
        self.mouse("Released", *end, button="left", clickCount=1)

    def press(self, *keys: str) -> None:
        """Strike keys by their names, or type a single character."""
        for key in keys:
            text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
            # Backspace edits text only when its code is given too.
            code = {"windowsVirtualKeyCode": 8} if key == "Backspace" else {}
            self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **code)
            self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def photograph(self, path: Path) -> None:
        """A PNG of the window."""
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))
