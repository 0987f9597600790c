"""A headless Chromium, spoken to by its DevTools protocol over a pair of pipes.

https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FAULTS = ("Log.entryAdded", "Runtime.exceptionThrown")
"""Events of a page with an error."""

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_IN_CHILD = """
import fcntl, os, sys
read, write, *command = sys.argv[1:]
read, write = (fcntl.fcntl(int(one), fcntl.F_DUPFD, 10) for one in (read, write))
os.dup2(read, 3), os.dup2(write, 4)
os.execvp(command[0], command)
"""
"""Gives the browser the descriptors from which it reads, and to which it writes."""


def find_browser() -> str:
    """Return the program, or skip the test."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium here")
    return found


class Browser:
    """A browser without a network; its profile outlives it."""

    def __init__(self, profile: Path) -> None:
        (read, self._write), (self._read, write) = os.pipe(), os.pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _IN_CHILD, str(read), str(write)),
                find_browser(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
            ],
            pass_fds=(read, write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self._number, self._rest = 0, b""
        self.events: list[dict[str, Any]] = []

    def send(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """Return the result of a command; events before it are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        message |= {"sessionId": session} if session else {}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self._read, 1 << 16)
            assert more, "the browser ended"
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        return found

    def close(self) -> None:
        """Close the browser, which writes its profile."""
        self.send("Browser.close")
        self._process.wait(60)
        os.close(self._read)
        os.close(self._write)


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    """Run a browser for a while."""
    browser = Browser(profile)
    try:
        yield browser
    finally:
        browser.close()


class Tab:
    """A page in a browser."""

    def __init__(
        self,
        browser: Browser,
        page: Path,
        width: int = 1280,
        dark: bool = False,
        before: str = "",
    ) -> None:
        self.browser = browser
        self._target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        self.send("Page.enable")
        self.send("Runtime.enable")
        self.send("Log.enable")
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.send("Page.navigate", url=page.as_uri())
        self.wait("document.readyState === 'complete'")

    def send(self, method: str, **parameters: Any) -> Any:
        """Return the result of a command for this tab."""
        return self.browser.send(method, self._session, **parameters)

    def run(self, script: str) -> Any:
        """Return the value of an expression of JavaScript, or that of its promise."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        self.wait_for(lambda: bool(self.run(condition)))

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds."""
        for _ in range(12_000):
            if condition():
                return
            time.sleep(0.01)
        pytest.fail("waited for too long")

    def text(self, place: str) -> str:
        """Return the text of an element."""
        return str(self.run(f"document.querySelector({place!r}).innerText"))

    def press(self, key: str) -> None:
        """Press a key, such as ``g`` or ``ArrowLeft``."""
        code = {"ArrowLeft": 37, "ArrowRight": 39, "Enter": 13}.get(key) or ord(key.upper())
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        pressed = {"key": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **pressed)
        self.send("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def type(self, text: str) -> None:
        """Type text into the element that has the focus."""
        self.send("Input.insertText", text=text)

    def click(self, place: str, touch: bool = False) -> None:
        """Click an element where it is on the screen."""
        find = f"document.querySelector({place!r})"
        self.run(f"{find}.scrollIntoView({{block: 'nearest'}})")
        x, y, width, height = self.run(
            f"(r => [r.x, r.y, r.width, r.height])({find}.getBoundingClientRect())"
        )
        assert width, place
        point = {"x": x + width / 2, "y": y + height / 2}
        if touch:
            self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[point])
            self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
            return
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "button": "left", "clickCount": 1}
            self.send("Input.dispatchMouseEvent", **event, **point)

    def close(self) -> None:
        """Close the tab."""
        self.browser.send("Target.closeTarget", targetId=self._target)
