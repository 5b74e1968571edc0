# SPDX-License-Identifier: Apache-2.0
# browser.py CHROMIUM PAGE [WIDTH[:dark]=SCREENSHOT.png]...: what a real browser makes of a page. Prints and fails on console
# messages, requests beyond the page itself, uncaught errors, and a page wider than its window at 400 or 1280 pixels.
# Speaks the DevTools protocol over a pipe; nothing but Python's own library.
import base64
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

chromium, page, *shots = sys.argv[1:]
url = Path(page).resolve().as_uri()
faults = []


class Browser:
    def __init__(self, profile):
        to_read, self.out = os.pipe()
        self.inp, from_write = os.pipe()

        def wire():
            # Through high numbers, for either may be 3 or 4 itself.
            a, b = os.dup(to_read), os.dup(from_write)
            os.dup2(a, 3)
            os.dup2(b, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.number, self.rest, self.events, self.session = 0, b"", [], None

    def read(self):
        while b"\0" not in self.rest:
            data = os.read(self.inp, 1 << 20)
            if not data:
                sys.exit("the browser has gone")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.read())


def look(browser):
    for event in browser.events:
        params = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("data:", url)):
            faults.append(f"request for {params['request']['url']}")
        elif event.get("method") == "Log.entryAdded":
            faults.append(f"console: {params['entry']['text']}")
        elif event.get("method") == "Runtime.consoleAPICalled":
            faults.append(f"console: {params['args']}")
        elif event.get("method") == "Runtime.exceptionThrown":
            faults.append(f"error: {params['exceptionDetails']['text']}")
        elif event.get("method") == "Page.javascriptDialogOpening":
            faults.append(f"dialog: {params['message']}")


def evaluate(browser, expression):
    return browser.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")


def visit(browser, width, dark=False, shot=None):
    browser.events.clear()
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
    browser.call("Page.navigate", url=url)
    browser.wait("Page.loadEventFired")
    evaluate(browser, "document.querySelectorAll('details').forEach(d => d.open = true)")
    wide = evaluate(browser, "document.documentElement.scrollWidth")
    if wide > width:
        culprits = evaluate(browser, "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 "
                            "&& !e.closest('.scroll, pre, svg')).slice(0, 5).map(e => e.tagName + '.' + e.className).join(' ')")
        faults.append(f"{wide} pixels wide in a window of {width}: {culprits}")
    scripts = evaluate(browser, "document.scripts.length")
    if scripts:
        faults.append(f"{scripts} scripts in the page")
    if shot:
        evaluate(browser, "document.querySelectorAll('details').forEach(d => d.open = false)")
        image = browser.call("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        Path(shot).write_bytes(base64.b64decode(image["data"]))
    look(browser)


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = Browser(profile)
    try:
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.call(f"{domain}.enable")
        for width in (400, 1280):
            visit(browser, width)
        for shot in shots:
            form, name = shot.split("=", 1)
            width, _, dark = form.partition(":")
            visit(browser, int(width), dark == "dark", name)
        browser.session = None
        os.write(browser.out, b'{"id":0,"method":"Browser.close"}\0')
        browser.process.wait(10)
    finally:
        browser.process.kill()
for fault in faults:
    print(f"{page}: {fault}")
sys.exit(bool(faults))
