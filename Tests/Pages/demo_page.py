#!/usr/bin/env python3
"""Drives the page of `media-token-sandbox demo` in Chromium: demo_page.py PROGRAM FOLDER

PROGRAM is the executable; screenshots are put into FOLDER. Prints each check that holds, and fails for the first that does not.
"""
import http.client, pathlib, re, signal, subprocess, sys, time

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By

import chromium
from chromium import check

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])


class Page:
    def __init__(self, driver, url):
        self.driver, self.url = driver, url
        driver.get(url)

    def press(self, identifier):
        self.element(By.ID, identifier).click()

    def element(self, by, value):
        """The element, as soon as the page has it."""
        found = []
        self.until(lambda: found.append(self.driver.find_element(by, value)) or True, f"there is {value}")
        return found[0]

    def wait(self, what, holds):
        self.until(holds, what)
        print(f"holds: {what}")

    def until(self, holds, what):
        """Waits until `holds`. A page that is still loading has no element yet, or one of the page before."""
        end = time.monotonic() + 120
        while True:
            try:
                if holds():
                    return
                why = f"the page says '{self.state}', the calls are {self.calls}"
            except WebDriverException as error:
                why = error.msg
            if time.monotonic() > end:
                sys.exit(f"does not hold: {what}; {why}")
            time.sleep(0.1)

    @property
    def state(self):
        return self.driver.execute_script("const state = document.getElementById('state'); return state ? state.textContent : ''")

    @property
    def calls(self):
        rows = self.driver.execute_script(
            "return [...document.querySelectorAll('#rows tr')].map(row => [...row.cells].slice(1).map(cell => cell.textContent.trim()))")
        return [tuple(row) for row in rows]

    def log_in(self, mvpd="Sandbox", **fields):
        # The page has its buttons before its script knows what they do.
        self.wait("the player's page is ready", lambda: self.state != "")
        self.press("login")
        self.wait("the pretend MVPD shows its login page", lambda: self.driver.title.endswith(f"log in to {mvpd}"))
        for name, value in fields.items():
            self.element(By.NAME, name).send_keys(value)
        self.element(By.XPATH, "//button[text()='Log in']").click()

    def choose(self, identifier, value):
        self.driver.execute_script(
            "const list = document.getElementById(arguments[0]); list.value = arguments[1]; list.dispatchEvent(new Event('change'))",
            identifier, value)

    @property
    def enabled(self):
        return self.driver.execute_script(
            "return [...document.querySelectorAll('p > button')].filter(button => !button.disabled).map(button => button.id)")

    @property
    def details(self):
        return self.driver.execute_script("return document.getElementById('details').textContent")

    def shots(self, name):
        chromium.shots(self.driver, folder, name)


def check_strangers(url):
    """Another name for this machine, and a page of another origin, are refused."""
    host = url.split("/")[2]
    for path, headers, status in [
        ("calls", {"Host": "evil.example"}, 421),
        ("calls", {"Host": host}, 200),
        ("v1/play", {"Host": host, "Origin": "http://evil.example"}, 403),
        ("v1/play", {"Host": host, "Origin": f"http://{host}"}, 400),
    ]:
        connection = http.client.HTTPConnection(host, timeout=120)
        connection.request("GET" if path == "calls" else "POST", f"/{path}", headers=headers)
        answer = connection.getresponse().status
        check(answer == status, f"/{path} with {headers}: {answer}, expected {status}")


def visit(page):
    page.wait("nobody is logged in", lambda: page.state == "Nobody is logged in.")
    page.wait("only what is possible can be pressed", lambda: page.enabled == ["login", "play"])
    page.press("play")
    page.wait("without a login there is no token", lambda: page.state == "Not authorized: authenticated_profile_missing")
    page.press("login")
    page.wait("the login page comes", lambda: "log in to Sandbox" in page.driver.title)
    page.shots("login")
    page.driver.get(page.url)
    page.log_in(user="ann", password="wrong")
    page.wait("a wrong password is refused", lambda: "wrong" in page.driver.find_element(By.CSS_SELECTOR, "[role=alert]").text)
    page.driver.get(page.url)
    page.log_in(user="ann", password="secret")
    page.wait("the viewer is back, and logged in", lambda: page.state.startswith("You are logged in"))
    page.press("play")
    page.wait("the stream plays", lambda: page.state == "Playing: VALID_TOKEN")
    page.wait("segments are shown", lambda: "Segment 2.svg" in page.element(By.ID, "screen").get_attribute("alt"))
    page.shots("player")
    page.press("again")
    page.wait("the token opens no second play", lambda: page.state.startswith("Refused: TOKEN_ALREADY_USED."))
    page.wait("and the screen is dark", lambda: page.element(By.ID, "screen").get_attribute("src") in [None, ""])
    page.wait("nobody can log in twice", lambda: page.enabled == ["play", "again", "logout"])
    page.element(By.XPATH, "//tr[td[4][contains(., 'TOKEN_ALREADY_USED')]]//button").click()
    page.wait("a call that is chosen shows its curl, the answer and the token",
              lambda: all(text in page.details for text in ["curl -i", "TOKEN_ALREADY_USED", "<resourceID>LIVE</resourceID>"]))
    page.shots("details")
    for card, state in [("denied", "Not authorized: authorization_denied_by_mvpd"), ("expired", "Refused: TOKEN_EXPIRED")]:
        page.choose("card", card)
        page.wait("nobody has logged in at the card's provider", lambda: page.state == "Nobody is logged in.")
        page.log_in(f"Sandbox:{card}", user="ann", password="secret")
        page.wait("the viewer is back", lambda: page.state.startswith("You are logged in"))
        page.press("play")
        page.wait(f"the card '{card}' brings '{state}'", lambda: page.state.startswith(state))
    page.choose("card", "")
    page.wait("the other provider knows the viewer still", lambda: page.state.startswith("You are logged in"))
    page.press("play")
    page.wait("a new token does", lambda: page.state == "Playing: VALID_TOKEN")
    wanted = [("sandbox", "POST /o/client/token", "201"), ("sandbox", "POST /mvpd/login", "302"),
              ("sandbox", "POST /api/v2/SANDBOX/decisions/authorize/Sandbox", "200"), ("gate", "POST /v1/play", "200 VALID_TOKEN"),
              ("gate", "GET /live/index.m3u8", "200 GRANT_VALID"), ("gate", "POST /v1/play", "403 TOKEN_ALREADY_USED")]

    def in_order():
        rest = iter(page.calls)
        return all(any(call == one for call in rest) for one in wanted)

    page.wait("the calls of both sides are there, in their order", in_order)
    page.press("logout")
    page.wait("the viewer is logged out", lambda: page.state == "Nobody is logged in.")
    violations = page.driver.execute_script("return violations")
    check(violations == [], f"the page keeps to its policy {violations or str()}")


process = subprocess.Popen([program, "demo"], stdout=subprocess.PIPE, text=True)
try:
    first, url = process.stdout.readline(), process.stdout.readline().strip()
    check(re.fullmatch(r"http://127\.0\.0\.1:\d+/", url), f"the demo says where it is: {url}")
    check_strangers(url)
    with chromium.browser() as driver:
        visit(Page(driver, url))
finally:
    process.send_signal(signal.SIGINT)
    check(process.wait(120) == 0, "Ctrl-C ends it with 0")
