"""A headless Chromium, driven over a pair of pipes: no port, no library."""

import json
import os
import select
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PATIENCE = 60.0


class Browser:
    """One browser with a profile of its own, which goes with it."""

    def __init__(self, program: str) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="magnon-browser-")
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def pipes() -> None:
            # The browser reads commands from descriptor 3 and answers on 4.
            reading, writing = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.log = open(Path(self.profile.name) / "log", "wb")
        self.process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.profile.name}/profile",
                "--no-sandbox",
                "--no-first-run",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--hide-scrollbars",
                "--force-color-profile=srgb",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            close_fds=False,
            preexec_fn=pipes,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.reading, self.writing = ours_in, ours_out
        self.rest = b""
        self.count = 0
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        """Asks the browser to end, and sees that it did."""
        try:
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.reading)
        os.close(self.writing)
        self.log.close()
        self.profile.cleanup()

    def send(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer; events on the way are kept."""
        self.count += 1
        number = self.count
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(until - time.monotonic())
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self, patience: float) -> dict[str, Any]:
        """The next message of the browser."""
        while b"\0" not in self.rest:
            if patience <= 0 or not select.select([self.reading], [], [], patience)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.reading, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)


class Page:
    """A tab."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.send(method, self.session, **params)

    def close(self) -> None:
        self.browser.send("Target.closeTarget", targetId=self.target)

    def size(self, width: int, height: int) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def media(self, kind: str, scheme: str) -> None:
        """`screen` or `print`, `light` or `dark`."""
        scheme_feature = {"name": "prefers-color-scheme", "value": scheme}
        self.send("Emulation.setEmulatedMedia", media=kind, features=[scheme_feature])

    def open(self, url: str) -> float:
        """Opens the address; gives the milliseconds until all was loaded and painted."""
        self.browser.events.clear()
        self.send("Page.navigate", url=url)
        until = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.browser.events):
            self.browser.events.append(self.browser.receive(until - time.monotonic()))
        return self.run(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame("
            "() => done(performance.now()))))"
        )

    def run(self, code: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{code}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def key(self, key: str) -> None:
        code = {"keyDown": "rawKeyDown", "keyUp": "keyUp"}
        numbers = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}
        for kind in code.values():
            self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=numbers[key],
            )
        self.settle()

    def mouse(self, kind: str, x: float, y: float, held: bool = False) -> None:
        self.send(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left" if held else "none",
            buttons=1 if held else 0,
            clickCount=1 if held else 0,
        )

    def settle(self) -> None:
        """Waits until the page has drawn what it was told to."""
        self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        import base64

        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self) -> list[str]:
        """Errors, exceptions and refusals since the page was opened."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            about = event.get("params", {})
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    details = about["exceptionDetails"]
                    thrown = details.get("exception", {}).get("description")
                    found.append(f"exception: {thrown or details['text']}")
                case "Runtime.consoleAPICalled" if about["type"] in ("error", "warning", "assert"):
                    found.append(f"console: {about['args']}")
                case "Log.entryAdded" if about["entry"]["level"] in ("error", "warning"):
                    text = about["entry"]["text"]
                    # The checks themselves read the canvas back, which the browser remarks on.
                    if "willReadFrequently" not in text:
                        found.append(f"log: {text}")
        return found

    def requests(self) -> list[str]:
        """Addresses asked for since the page was opened."""
        sent = [e for e in self.browser.events if e.get("method") == "Network.requestWillBeSent"]
        return [e["params"]["request"]["url"] for e in sent if e.get("sessionId") == self.session]
