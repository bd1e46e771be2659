"""Headless Chromium, controlled over a pair of pipes with its DevTools protocol. Needs only Python's
standard library and Debian's chromium."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import unittest


def find_chromium():
    """The path of the browser, or None."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="huddle-page-")
        to_child, from_us = os.pipe()
        from_child, to_us = os.pipe()
        self.write_end, self.read_end = from_us, from_child

        # The browser reads commands at descriptor 3 and answers at 4. The two are moved out of the
        # way first, so that neither copy overwrites the other.
        def place():
            high_in, high_out = os.dup2(to_child, 103), os.dup2(to_us, 104)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking",
             "--hide-scrollbars", "--force-color-profile=srgb", f"--user-data-dir={self.profile}",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(to_us)
        self.buffer = b""
        self.count = 0
        self.session = None
        self.events = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close", seconds=5)
        except (OSError, RuntimeError, TimeoutError):
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self, deadline):
        """The next message."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            chunk = os.read(self.read_end, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser has gone")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, seconds=60, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        deadline = time.monotonic() + seconds
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    # ---- for the tests ----

    def window(self, width, height, dark=False, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if mobile else 1, mobile=mobile)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        """Opens a file and waits until the page is complete."""
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.monotonic() + 60
        while self.run("document.documentElement?.dataset.ready") != "true":
            if self.complaints():
                raise AssertionError(f"{path}: {self.complaints()}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path}: the page is not ready")
            time.sleep(0.05)
        self.settle()

    def settle(self):
        """Waits until two frames have been drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def complaints(self):
        """Errors and warnings of the console."""
        found = []
        for event in self.events:
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                found.append(parameters["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
                found.append(str(parameters["args"]))
        return found

    def requests(self):
        """Addresses that the page requested, except its own."""
        asked = [e["params"]["request"]["url"] for e in self.events
                 if e["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("file:", "data:"))]

    def screenshot(self, path, whole=True):
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                               clip={"x": 0, "y": 0, "width": size["width"],
                                     "height": size["height"], "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def print_pdf(self, path=None):
        answer = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=False,
                           paperWidth=8.27, paperHeight=11.69)
        data = base64.b64decode(answer["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data


class BrowserTest(unittest.TestCase):
    """Tests that share a browser."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(find_chromium())

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def check_clean(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [])

    def js(self, expression):
        return self.browser.run(expression)
