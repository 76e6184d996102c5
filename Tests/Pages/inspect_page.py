#!/usr/bin/env python3
"""Drives the page of `media-token inspect --web` in Chromium: inspect_page.py PROGRAM FOLDER

PROGRAM is the executable; screenshots are put into FOLDER. Prints each check that holds, and fails for the first that does not.
"""
import base64, contextlib, html, json, os, pathlib, re, signal, socket, subprocess, sys, tempfile, time, urllib.parse

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import chromium
from chromium import check

program, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
root = pathlib.Path(__file__).resolve().parents[2]
clear = (root / "Tests/Vectors/media-token-2016-temppass.txt").read_text().strip()
encoded = base64.b64encode(clear.encode()).decode()
key = root / "Keys/adobe-pass-2015-2021.pem"
guid = "613e99bf2db476308f802091f8462819"

# The texts that people paste, each with what the page says of it at the token's own time without a key.
forms = {
    "clear text": (clear, "UNVERIFIED"),
    "clear text between blanks": (f"  {clear}\r\n\n", "UNVERIFIED"),
    "Base64": (encoded, "UNVERIFIED"),
    "percent-encoded": (urllib.parse.quote(clear, safe=""), "UNVERIFIED"),
    "an answer in JSON": (json.dumps({"serializedToken": encoded, "resource": "TNT"}), "UNVERIFIED"),
    "something else": ("https://example.com/", "INVALID_TOKEN_FORMAT"),
    "quoted": (f'"{clear}"', "UNVERIFIED"),
    "Base64, wrapped": ("\n".join(re.findall(".{1,76}", encoded)), "UNVERIFIED"),
    "clear text, wrapped": ("\n".join(re.findall(".{1,80}", clear)), "UNVERIFIED"),
    "HTML escapes": (html.escape(clear), "UNVERIFIED"),
    "percent-encoded twice": (urllib.parse.quote(urllib.parse.quote(clear, safe=""), safe=""), "UNVERIFIED"),
    "a URL": (f"https://tv.example/m.m3u8?token={urllib.parse.quote(clear, safe='')}&a=b", "UNVERIFIED"),
    "a header": (f"X-Media-Token: {encoded}", "UNVERIFIED"),
    "a curl line": (f"curl 'https://tv.example/' -H 'Authorization: Bearer {encoded}'", "UNVERIFIED"),
    "a JSON log": (json.dumps({"level": "info", "token": clear}), "UNVERIFIED"),
    "hex": (clear.encode().hex(), "UNVERIFIED"),
    "a denial": (json.dumps({"decisions": [{"authorized": False, "error": {"code": "denied", "action": "none"}}]}), "denied"),
}


def har(*calls):
    """A HAR file of calls, each a URL, the text that was sent, the text that came, and the second of 2016-03-17T22:01."""
    return json.dumps({"log": {"version": "1.2", "entries": [
        {"startedDateTime": f"2016-03-17T22:01:{second}.000Z", "request": {"method": "POST", "url": url, "headers": [],
            "postData": {"mimeType": "application/json", "text": sent}},
         "response": {"status": 200, "headers": [], "content": {"mimeType": "application/json", "text": came}}}
        for url, sent, came, second in calls]}})


@contextlib.contextmanager
def served(*options):
    """Serves the page with these options, and yields its address."""
    process = subprocess.Popen([program, "inspect", "--web", *options], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        check(process.wait(20) == 0, "Ctrl-C ends it with 0")


class Page:
    def __init__(self, driver, url):
        self.driver, self.url = driver, url
        # A browser that is busy may take its window to be in the background, where it copies nothing.
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        self.open()

    def open(self):
        self.driver.get(self.url)

    def find(self, identifier):
        return self.driver.find_element(By.ID, identifier)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def paste(self, text):
        self.run("""const data = new DataTransfer(); data.setData('text/plain', arguments[0]); const box = document.getElementById('box');
            box.value = ''; box.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));""", text)

    def drop(self, name, content):
        self.run("""const bytes = Uint8Array.from(atob(arguments[1]), letter => letter.charCodeAt(0)), data = new DataTransfer();
            data.items.add(new File([bytes], arguments[0]));
            document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));""",
            name, base64.b64encode(content).decode())

    def wait(self, what, condition):
        end = time.time() + 120
        while time.time() < end:
            if condition():
                return check(True, what)
            time.sleep(0.05)
        check(False, f"{what}; the page says {self.verdict!r}, {self.find('problem').text!r}")

    def copy(self, name):
        """What a button copies."""
        self.run("document.getElementById('copied').textContent = ''")
        self.find(f"copy-{name}").click()
        self.wait(f"the page says what came of copying: {name}", lambda: self.words("copied"))
        check("Copied" in self.words("copied"), f"copied: {name}: {self.words('copied')}")
        return self.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")

    def wait_verdict(self, code, what):
        self.wait(f"{what}: {code}", lambda: code == re.split("[ ,:]", self.verdict)[1])

    @property
    def verdict(self):
        return self.words("verdict")

    @property
    def text(self):
        """All that a reader sees, in fields too."""
        return self.run("""return document.body.innerText
            + [...document.querySelectorAll('input, textarea')].map(field => `${field.value} ${field.placeholder}`).join(' ')""")

    def words(self, identifier):
        return self.run("return document.getElementById(arguments[0]).innerText", identifier)

    def use(self, selector, action):
        """Does something with an element that the page may replace at any time."""
        for _ in range(50):
            with contextlib.suppress(StaleElementReferenceException):
                return action(self.driver.find_element(By.CSS_SELECTOR, selector))

    def fill(self, identifier, text):
        # Typed over as by a person: WebDriver's clear() tells the page of no input.
        self.find(identifier).send_keys(Keys.CONTROL + "a" + Keys.NULL, text)


def pasted_forms(page):
    for name, (text, code) in forms.items():
        page.open()
        page.paste(text)
        page.wait_verdict("TOKEN_EXPIRED" if code == "UNVERIFIED" else code, f"{name}, pasted, now")
        if code == "UNVERIFIED":
            page.find("own-time").click()
            page.wait_verdict(code, f"{name}, at its own time")
            check(page.find("unverified").is_displayed(), f"{name}: the fields are called UNVERIFIED")


def several_tokens(page):
    page.open()
    other = clear.replace("<resourceID>TNT", "<resourceID>TBS")
    page.paste(f"2016-03-17T22:02:00Z {clear}\n{other}\n{encoded}\n")
    page.wait("two tokens are two tabs, one of them with two lines", lambda: len(page.driver.find_elements(By.CSS_SELECTOR, "[role=tab]")) == 2
              and "line 1, 3" in page.words("tabs") and "MML › TBS" in page.words("tabs"))
    place = page.words("place")
    check(place.startswith("2016-03-17T22:02:00Z <signatureInfo>") and page.words("place").endswith("</authToken>") and guid not in place, f"the token is marked on its line: {place}")
    page.use("#tab-0", lambda tab: tab.send_keys(Keys.END))
    page.wait("End chooses the last tab", lambda: page.run("return document.activeElement.id") == "tab-1")
    page.use("#tab-1", lambda tab: tab.send_keys(Keys.HOME))
    page.use("#tab-0", lambda tab: tab.send_keys(Keys.ARROW_DOWN))
    page.wait("an arrow key chooses the other tab, and leaves the focus there", lambda: page.run(
        "return document.activeElement.id === 'tab-1' && document.activeElement.getAttribute('aria-selected') === 'true'"))


def capture(page):
    page.open()
    play = ("https://tv.example/v1/play?requestor=MML&resource=TNT", json.dumps({"mediaToken": clear}), "{}")
    profiles = ("https://api.example/api/v2/MML/profiles", "", "{}", 58)
    page.paste(har((*play, 40), (*play, 50), ("https://tv.example/v1/play", "{}", "{}", 55), profiles))
    page.wait("a HAR file is a table of its calls", lambda: len(page.driver.find_elements(By.CSS_SELECTOR, "#calls tr")) == 3)
    rows = page.words("calls")
    check("POST tv.example/v1/play" in rows and "2016-03-17 22:01:50" in rows and "media UNVERIFIED" in rows and "used twice: token" in rows, f"a row has the call, its time, what it holds, and notes: {rows}")
    check("entry 2" in page.words("way") and "used twice" in page.words("notes") and "used twice" in page.verdict, "the first call with a fault is open, and the verdict names the fault")
    check(not page.find("tabs").is_displayed(), "its only finding has no tab")
    page.wait_verdict("UNVERIFIED", "a token is checked at the time of its call")
    check("2016-03-17 22:01:50" in page.words("times") and "the call's time, 2016-03-17T22:01:50Z" in page.words("at-text"), "the call's time is shown, and called so")
    page.find("now").click()
    page.wait_verdict("TOKEN_EXPIRED", "the button for now")
    check(page.words("at-text").startswith("now, ") and "now is" in page.verdict and "now" in page.words("calls-time"), "the page says that now is meant")
    page.find("call-time").click()
    page.wait_verdict("UNVERIFIED", "the button for the call's time")
    page.use("#call-1", lambda button: button.send_keys(Keys.ARROW_UP))
    page.wait("an arrow key opens the call above, and leaves the focus there", lambda: "entry 1" in page.words("way")
              and page.run("return document.activeElement.id === 'call-0' && document.activeElement.ariaPressed === 'true'"))
    check(not page.words("notes") and "22:01:40Z" in page.words("at-text"), "the first play has no note, and its own time")
    page.use("#calls tr:last-child", lambda row: row.click())
    page.wait("a click opens a call without a token", lambda: page.verdict == "Entry 4 has no token; it was answered 200.")
    check(not page.find("fields-part").is_displayed() and not page.find("copies").is_displayed() and not page.words("way"), "nothing of another call is left")
    page.use("#calls tr:last-child", lambda row: row.click())
    page.use("#call-2", lambda button: button.send_keys(Keys.HOME))
    page.wait("Home opens the first one", lambda: "entry 1" in page.words("way"))
    shots(page, "capture")
    refused = json.dumps({"code": "INVALID_RESOURCE_ID", "status": 403, "detail": "for another resource"})
    for url, came, answer in [("https://tv.example/v1/play", refused, "INVALID_RESOURCE_ID: the service (tv.example) answered"),
                              ("https://api.example/api/v2/MML/profiles", forms["a denial"][0], "denied: Adobe Pass (api.example) answered")]:
        page.paste(har((url, "{}", came, 59)))
        page.wait(answer, lambda: answer in page.verdict)
        ticket = page.run("return ticket()")
        check("\nCall:      entry 1, POST " in ticket and ", answered 200, 2016-03-17T22:01:59Z\n" in ticket, f"the ticket of an error names the call: {ticket}")
    page.paste(json.dumps({"code": "DENIED", "status": 403, "detail": f"viewer@tv.example, session {guid}, token {'A' * 200}"}))
    page.wait("an error that names a person", lambda: guid in page.verdict)
    check(page.run("return ticket()").startswith("DENIED: the service answered: ••••, session ••••, token ••••"), "has a ticket that does not")
    page.paste(refused)
    page.wait("outside of a HAR file a gate's code is a service's", lambda: "INVALID_RESOURCE_ID: the service answered" in page.verdict)
    page.paste(forms["a denial"][0])
    page.wait("and any other is one of Adobe Pass", lambda: "denied: Adobe Pass answered: action none" in page.verdict)
    page.paste(har(profiles))
    page.wait("a capture without a token says so", lambda: "no token" in page.words("problem"))
    page.paste(clear)
    page.wait_verdict("TOKEN_EXPIRED", "a token after it")
    check(not page.find("calls-part").is_displayed(), "the calls are gone")
    page.paste(har(profiles))
    page.wait("nothing of the token before it is left", lambda: page.verdict.startswith("Entry 1 has no token") and "TNT" not in page.text
              and not page.find("fields-part").is_displayed() and not page.find("copies").is_displayed())
    page.find("forget-input").click()
    check(page.verdict == "Paste a token to begin." and not page.words("problem") and not page.find("calls-part").is_displayed(), "the page begins again")


def states(page):
    """The verdict in words, for what people paste."""
    for text, state in [(clear, "Old, and not verified"), (clear[:380], "Cut"), ("hello world", "No token"), (forms["a denial"][0], "An error")]:
        page.open()
        page.paste(text)
        page.wait(state, lambda: page.words("state") == state)
    page.find("example").click()
    page.wait_verdict("TOKEN_EXPIRED", "the example")
    page.drop("adobe.pem", key.read_bytes())
    page.fill("bits", "1024" + Keys.TAB)
    page.wait("Good, but old", lambda: page.words("state") == "Good, but old")
    page.find("own-time").click()
    page.wait("Good", lambda: page.words("state") == "Good")
    page.paste(clear.replace("<resourceID>TNT", "<resourceID>HBO"))
    page.wait("a changed token", lambda: page.words("state") == "Changed after it was signed")
    sent = json.dumps({"mediaToken": base64.b64encode(encoded.encode()).decode()})
    page.paste(har(("https://tv.example/v1/play?requestor=MML&resource=TBS", sent, "{}", 40)))
    page.wait("a damaged one", lambda: page.words("state") == "Damaged on the way")
    check("the call is for TBS" in page.words("mark-resource"), "a field says what the call was for")
    ages = page.run("return [['2016-03-17T22:08:31Z', '2017-03-13T00:00:00Z'], ['2024-02-29T12:00:00Z', '2025-02-28T12:00:00Z'], ['2024-01-31T00:00:00Z', '2024-03-01T00:00:00Z'], "
                    "['2024-01-01T00:00:00Z', '2024-01-01T00:00:59Z']].map(([one, other]) => duration(Date.parse(one), Date.parse(other)))")
    check(ages == ["11 months 23 days", "11 months 30 days", "1 month 1 day", "59 s"], f"ages are those of the program: {ages}")


def late_answers(page):
    """The page waits for answers that the test holds back."""
    page.open()
    # The page shows an answer as soon as it has read its text, and a task of the browser comes after that.
    page.run("""window.held = []; window.shown = 0; const asked = window.fetch;
        const counted = response => {
            const read = response.text.bind(response);
            response.text = () => read().finally(() => setTimeout(() => shown++));
            return response;
        };
        window.fetch = (path, request) => new Promise(done => held.push({ path, body: request.body, answer: () => done(asked(path, request).then(counted)) }));""")
    other = clear.replace("<resourceID>TNT", "<resourceID>HBO")
    page.paste(clear)
    page.paste(other)
    page.wait("a slow answer is waited for, and the page says so", lambda: page.words("working") == "Checking…")
    page.run("held[1].answer()")
    page.wait("the newer answer comes first", lambda: "HBO" in page.words("fields"))
    page.run("held[0].answer()")
    page.wait("the older answer has come", lambda: page.run("return shown") == 2)
    check("HBO" in page.words("fields") and not page.words("working"), "the older answer does not take its place")
    page.run("""held = []; document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: new DataTransfer(), bubbles: true }));""")
    check(page.run("return held.length") == 0, "a paste of nothing asks nothing")


def ended(page):
    """The program has ended since the page was opened."""
    page.paste(clear)
    page.wait("the page says that the program has ended", lambda: "does not answer" in page.words("problem"))
    check(page.verdict == "No result." and "TNT" not in page.text, "no older result is left")


def binary_files(page):
    """Files that are no text and hold no token, each with what the page says of it."""
    noise = bytes((37 * i * i + 11 * i) % 256 for i in range(3000))
    for name, head, said in [("shot.png", b"\x89PNG\r\n\x1a\n", "shot.png: it is a picture; copy the token as text"),
                             ("log.gz", b"\x1f\x8b\x08", "log.gz: it is a gzip file; what could be unpacked of it holds no token"),
                             ("guide.pdf", b"%PDF-1.4\n", "guide.pdf: it is a PDF document; copy the token as text"),
                             ("Main.class", b"\xca\xfe\xba\xbe\0\0\0\x34", "Main.class: it is a compiled Java class or a program; expected text"),
                             ("data", b"", "data: it is a binary file; expected text")]:
        page.open()
        page.drop(name, head + noise)
        page.wait(said, lambda: f"INVALID_TOKEN_FORMAT: {said}" in page.verdict)
        check(not page.words("checks") and not re.search("^(To do|Checks|Key):", page.run("return ticket()"), re.M), "no check is listed that cannot be made, on the page or in a ticket")
    page.drop("note.txt", "Grüße\t\x1b[1mno token\x1b[0m\n".encode("latin-1"))
    page.wait("a text without a token is no binary file", lambda: page.words("state") == "No token" and "binary" not in page.verdict)


def personal_data(page):
    page.open()
    page.paste(clear)
    page.wait_verdict("TOKEN_EXPIRED", "pasted")
    check(guid not in page.text, "the session GUID is not shown")
    page.use("#fields .reveal", lambda button: button.click())
    page.wait("a click shows the session GUID", lambda: guid in page.words("fields"))


def dropped_key(page):
    page.open()
    page.paste(clear)
    page.wait_verdict("TOKEN_EXPIRED", "pasted")
    page.find("own-time").click()
    page.wait_verdict("UNVERIFIED", "without a key")
    page.drop("adobe.pem", key.read_bytes())
    page.wait("a short key is refused by its name, with the field that allows it", lambda: "adobe.pem: is RSA with 1024 bits; at least 2048 are required "
              "(1024 in “Shortest RSA key, in bits” allows it)" in page.words("keys"))
    page.drop("notes.pem", b"no key")
    page.wait("a file without a key is refused by its name", lambda: "notes.pem: holds neither PEM" in page.words("keys"))
    page.fill("bits", "1023" + Keys.TAB)
    page.wait("while a field keeps all keys from being loaded, each is named with that", lambda: [line for line in page.words("keys").splitlines() if line.endswith("Remove")]
              == [f"{name}: not loaded, since Shortest RSA key, in bits: 1023; expected a whole number from 1024 to 8192 Remove" for name in ["adobe.pem", "notes.pem"]])
    page.use("[aria-label='Remove notes.pem']", lambda button: button.click())
    page.fill("bits", "1024" + Keys.TAB)
    page.wait("the page says which key verified the token", lambda: "verified this token" in page.words("keys"))
    page.wait_verdict("VERIFIED", "with a key")
    check("signature" in page.words("checks") and not page.find("unverified").is_displayed(), "the fields are verified")


def limits(page):
    """A token is on the page, at its own time; its life is seven minutes."""
    def width(name):
        return page.run("return document.getElementById(`span-${arguments[0]}`).getBoundingClientRect().width", name)
    check(abs(width("skew") / width("life") - 480 / 420) < .02, "the time line has the skew that applies without an option")
    for name, label, refused, taken in [("skew", "Clock skew, in seconds", 301, 300), ("bits", "Shortest RSA key, in bits", 1023, 1024)]:
        page.fill(name, f"{refused}{Keys.TAB}")
        page.wait(f"{refused} is beyond the program's limit and the field's, which the page calls by its label", lambda:
                  re.match(f"{label}: '?{refused}'?; expected", page.words("problem"))
                  and page.run("return document.getElementById(arguments[0]).matches(':out-of-range')", name))
        page.fill(name, f"{taken}{Keys.TAB}")
        page.wait(f"{taken} is within both", lambda: not page.words("problem")
                  and page.run("return document.getElementById(arguments[0]).matches(':in-range')", name))
    page.wait("the time line has a skew of minutes", lambda: abs(width("skew") / width("life") - 1020 / 420) < .02)
    page.fill("skew", Keys.BACKSPACE)


def other_kinds(page):
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([program, "keys", "generate", "--bits", "2048", "--to", place], check=True, stdout=subprocess.DEVNULL)
        later = subprocess.run([program, "issue", "--signing-key", f"{place}/development.key", "--requestor", "MML", "--resource", "TNT",
                                "--issued-at", "+3d"], check=True, stdout=subprocess.PIPE, text=True).stdout
        token = subprocess.run([program, "issue", "--signing-key", f"{place}/development.key", "--kind", "authn", "--requestor", "MML",
                                "--resource", "TNT", "--device", 'device-"of"-a-viewer' * 20], check=True, stdout=subprocess.PIPE, text=True).stdout
        authorization = subprocess.run([program, "issue", "--signing-key", f"{place}/development.key", "--kind", "authz", "--requestor", "MML",
                                        "--resource", "TNT"], check=True, stdout=subprocess.PIPE, text=True).stdout
    page.open()
    page.paste(token)
    page.wait_verdict("UNVERIFIED", "an AuthN token, pasted")
    check(edges(page, "#span-life")[0] - 1 <= edges(page, "#span-now:not(.cut)")[0] <= edges(page, "#span-life")[1] and "The line is now, " in page.words("now-text"), "of a living token now is a line on the bar")
    personal = re.findall("<(?:simpleTokenAuthenticationGuid|simpleSaml\\w+|simpleTokenFingerprint)>([^<]+)", html.unescape(token))
    check(len(personal) == 4 and not any(value in page.text for value in personal), "GUID, SAML index, name and device are not shown")
    shots(page, "authn")
    page.fill("expected-device", "another")
    page.wait_verdict("NOT_AS_ASKED", "another device is expected")
    check("-a-viewer" not in page.text, "nor is the device in the reason, where it is cut")
    ticket = page.copy("ticket")
    check("bound to device '••••…'; expected '••••'\nTo do:     a token is good on the device only" in ticket and "-a-viewer" not in ticket,
          f"nor is it in a ticket, which says what to do, and hides the device that was asked for too: {ticket}")
    check(not any(value in ticket for value in personal), "nor is anything else of the person")
    page.open()
    page.paste(later)
    page.wait_verdict("TOKEN_NOT_YET_VALID", "a token of later days, pasted")
    check(abs(edges(page, "#span-now.cut")[0] - edges(page, ".track")[0]) < 2 and re.match(r"Now is \d+ days.* before its issue, beyond the cut at the left", page.words("now-text")), "now is at the left end of its bar")
    page.open()
    page.paste(authorization)
    page.wait_verdict("UNVERIFIED", "an AuthZ token, pasted")
    shots(page, "authz")


def keystore(page):
    page.drop("trust.jks", (root / "Tests/Vectors/keystores/trust.jks").read_bytes())
    page.wait("a keystore asks for its password", lambda: page.run("return document.querySelector('#keys input') !== null"))
    page.use("#keys input", lambda field: field.send_keys("123456" + Keys.ENTER))
    page.wait("its keys are listed", lambda: page.words("keys").count("SHA-256") > 1)


def pkcs12(page):
    """A PKCS#12 with the certificate of the key that signed the token, and one with the key itself."""
    def run(*words):
        return subprocess.run(words, cwd=place, check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as place:
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "signing.key", "-out", "signing.pem", "-days", "2", "-subj", "/CN=Test")
        run("openssl", "pkcs12", "-export", "-nokeys", "-in", "signing.pem", "-out", "trust.p12", "-passout", "pass:a password")
        run("openssl", "pkcs12", "-export", "-inkey", "signing.key", "-in", "signing.pem", "-out", "full.p12", "-passout", "pass:a password")
        token = run(program, "issue", "--signing-key", "signing.key", "--requestor", "MML", "--resource", "TNT")
        files = {name: (pathlib.Path(place) / name).read_bytes() for name in ["trust.p12", "full.p12"]}
    page.open()
    page.paste(token)
    page.wait_verdict("UNVERIFIED", "an own token, pasted")
    # Without an ending the file is known by its first bytes.
    for name, dropped in [("trust.p12", "trust.p12"), ("trust.p12", "keystore"), ("full.p12", "full.p12")]:
        page.drop(dropped, files[name])
        page.wait(f"{dropped} needs its password", lambda: f"{dropped}: is a PKCS#12 and needs its password Remove" in page.words("keys"))
        page.use("#keys input", lambda field: field.send_keys("another" + Keys.ENTER))
        page.wait("a wrong password is called so", lambda: "wrong password" in page.words("keys"))
        page.use("#keys input", lambda field: field.send_keys("a password" + Keys.ENTER))
        if name == "full.p12":
            page.wait("a private key is refused", lambda: "private key" in page.words("keys"))
        else:
            page.wait_verdict("VERIFIED", f"with {dropped}")
            check("verified this token" in page.words("keys"), "its key is named")
        check(page.run("return !document.querySelector('#keys input')"), "no password is asked for any more")
        page.use("#keys button", lambda button: button.send_keys(Keys.ENTER))
        page.wait_verdict("UNVERIFIED", "once the file is removed")
        page.wait("no key is left", lambda: not page.words("keys"))
        check(page.run("return document.activeElement.id") == "key-file", "nor is the focus lost")


def grants(page):
    """Playback grants of each kind, alone and together."""
    def run(*words):
        return subprocess.run([program, "grant", *words], cwd=place, check=True, capture_output=True, text=True).stdout.strip()
    def jwt(**claims):
        return ".".join([*(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in [{"alg": "HS256"}, claims]), "c2lnbmF0dXJl"])
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "hex").write_text("0123456789abcdef" * 4)
        subprocess.run(["openssl", "genrsa", "-out", "rsa.pem", "2048"], cwd=place, check=True, capture_output=True)
        made = {
            "akamai": ("Akamai", run("akamai", "--key-file", "hex", "--acl", "/live/*", "--ip", "192.0.2.17"), "/live/*"),
            "cloudfront": ("CloudFront", run("cloudfront", "--key-file", "rsa.pem", "--key-pair-id", "PAIR", "--form", "url", "--url", "https://cdn.example/live/1.ts"), "PAIR"),
            "secure-link": ("secure_link", run("secure-link", "--key-file", "hex", "--path", "/live/1.ts"), "expires"),
            "cat": ("Common Access Token", run("cat", "--key-file", "hex", "--issuer", "gate", "--path-prefix", "/live/", "--form", "header"), "/live/"),
            "jwt": ("JSON Web Token", jwt(iss="gate", sub="viewer-4711", exp=int(time.time()) + 600), "gate"),
        }
    for kind, (title, text, field) in made.items():
        page.open()
        page.paste(text)
        page.wait_verdict("UNVERIFIED", kind)
        check(title in page.verdict and "expires 20" in page.verdict, f"{kind}: it is named, with its expiry: {page.verdict}")
        check(page.find("unverified").is_displayed() and field in page.words("fields"), f"{kind}: its fields are shown under UNVERIFIED")
        check(page.run("return !document.querySelector('#fields input')") and not page.find("at-part").is_displayed(), f"{kind}: nothing is offered that has no effect on it")
        secrets = re.findall(r"hmac=(\w+)|Signature=([\w~-]+)|md5=([\w-]+)", text) or [()]
        check(not any(secret and secret in page.text for secret in [*secrets[0], "192.0.2.17", "viewer-4711"]), f"{kind}: what it opens with, and for whom, is hidden")
    page.open()
    page.paste("\n".join(text for _, text, _ in made.values()) + f"\n{clear}")
    page.wait("a tab for each", lambda: len(page.driver.find_elements(By.CSS_SELECTOR, "[role=tab]")) == 6)
    check([tab for tab in made if tab not in page.words("tabs")] == [] and "media TOKEN_EXPIRED" in page.words("tabs"), "each names its kind")
    shots(page, "grants")
    for expiry in [10**15, -10**15]:
        page.open()
        page.paste(jwt(exp=expiry))
        page.wait_verdict("UNVERIFIED", f"a JSON Web Token that expires at {expiry}")


def keyboard(page):
    """All of the page, from its top to its end, with the keyboard alone."""
    page.open()
    page.paste(clear + "\n" + clear.replace("<resourceID>TNT", "<resourceID>TBS"))
    page.wait("two tokens are there", lambda: page.words("tabs").count("TOKEN_EXPIRED") == 2)
    page.run("document.activeElement.blur()")
    reached = []
    while len(reached) < 60:
        ActionChains(page.driver).send_keys(Keys.TAB).perform()
        name, shown = page.run("const at = document.activeElement; return [at === document.body ? null : at.id || at.tagName, getComputedStyle(at).outlineStyle]")
        if name is None:
            break
        check(shown != "none", f"the focus is seen on {name}")
        reached.append(name)
    places = [reached.index(name) for name in ["box", "example", "tab-0", "copy-command", "at", "own-time", "skew", "TR", "expected-requestor", "key-file", "bits"]]
    check(places == sorted(places) and "tab-1" not in reached, "Tab goes from the box to the result and to the keys, and stops at the tabs once")
    for key in [Keys.ENTER, Keys.SPACE]:
        page.find("own-time").send_keys(key)
        page.wait_verdict("UNVERIFIED", "a key presses a button")
        page.find("now").send_keys(key)
        page.wait_verdict("TOKEN_EXPIRED", "and another one")


def expectations(page):
    check(page.find("expected-requestor").get_attribute("value") == "", "an untouched field is no expectation")
    check("not asked for" in page.words("checks"), "the requestor is not compared")
    page.fill("expected-resource", "HBO")
    page.wait_verdict("INVALID_RESOURCE_ID", "another resource is expected")
    check(not page.find("call-time").is_displayed(), "no call is known")
    check(page.words("beside-expected") == "HBO" and page.words("beside-signed") == "TNT", "both resources are shown")
    page.fill("expected-resource", "TNT")
    page.fill("expected-requestor", "MML")
    page.wait("the edited resource matches", lambda: "✓ VERIFIED" in page.verdict and "resource" in page.verdict)


def taken_along(page):
    page.driver.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    copied = {name: page.copy(name) for name in ["command", "json", "ticket"]}
    check(guid not in copied["json"] + copied["ticket"] and '"code": "VERIFIED"' in copied["json"], "neither JSON nor ticket has the session GUID")
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    lines = copied["ticket"].splitlines()
    check(lines[0] == "VERIFIED: these hold: format, signature, window, requestor, resource", f"the ticket begins with the verdict: {lines[0]}")
    missing = [line for line in ["Checked:   as of 2016-03-17T22:01:31Z; asked 20", "Checks:    format passed, signature passed", "Requestor: MML", "Resource:  TNT", "MVPD:      TempPass",
               "Issued:    2016-03-17T22:01:31Z", "Expires:   2016-03-17T22:08:31Z", "Found:     line 1 › clear", "Token:     media, ID ", "Key:       ", f"Program:   media-token {version}"]
               if not any(found.startswith(line) for found in lines)]
    check(not missing, f"the ticket has all that a support desk asks for, in a line each: {missing or ''}")
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "token.txt").write_text(clear)
        (pathlib.Path(place) / "adobe.pem").write_bytes(key.read_bytes())
        (pathlib.Path(place) / "trust.jks").write_bytes((root / "Tests/Vectors/keystores/trust.jks").read_bytes())
        (pathlib.Path(place) / "password.txt").write_text("123456\n")
        words = copied["command"].replace("media-token ", f"'{program}' ", 1)
        outcome = subprocess.run(["bash", "-c", words], cwd=place, capture_output=True, text=True)
        check("verify" in words and outcome.stdout.startswith("VALID_TOKEN"), f"the command gives the same verdict: {copied['command']}")


def time_line(page):
    page.find("own-time").click()
    page.wait_verdict("VERIFIED", "at its own time")
    slider = page.find("at")
    slider.send_keys(Keys.END)
    page.wait_verdict("TOKEN_EXPIRED", "End on the time line")
    slider.send_keys(Keys.HOME)
    page.wait_verdict("TOKEN_NOT_YET_VALID", "Home on the time line")
    slider.send_keys(Keys.PAGE_UP * 5)
    page.wait_verdict("VERIFIED", "Page Up on the time line")
    width = slider.size["width"]
    # The middle of the element is the origin of offsets.
    for begin, end, code in [(0, 0.48, "TOKEN_EXPIRED"), (0.48, 0, "VERIFIED"), (0, -0.48, "TOKEN_NOT_YET_VALID")]:
        (ActionChains(page.driver).move_to_element_with_offset(slider, int(begin * width), 0).click_and_hold()
            .move_to_element_with_offset(slider, int((begin + end) / 2 * width), 0)
            .move_to_element_with_offset(slider, int(end * width), 0).release().perform())
        page.wait_verdict(code, f"the pointer drags the time line to {end:+}")
    page.find("now").click()
    page.wait_verdict("TOKEN_EXPIRED", "now")
    check("years" in page.words("at-text"), "the page says how long ago the token expired")
    track, life, mark = (edges(page, part) for part in [".track", "#span-life", "#span-now.cut"])
    check(life[1] - life[0] > (track[1] - track[0]) / 3 and life[1] < mark[0] and abs(mark[1] - track[1]) < 2, f"of a token that died years ago the life is seen, and the bar is cut for now: {track, life, mark}")
    check(re.fullmatch(r"Now is \d+ years.* after its expiry, beyond the cut at the right\.", page.words("now-text")), "the page says how far away now is")
    check(int(slider.get_attribute("max")) - int(slider.get_attribute("min")) < 1000, "the time line leads to the minutes around the token's life only")


def edges(page, selector):
    """The left and the right edge of an element."""
    return page.run("const { left, right } = document.querySelector(arguments[0]).getBoundingClientRect(); return [left, right]", selector)


def accessibility(page):
    page.open()
    page.paste(clear)
    page.drop("adobe.pem", key.read_bytes())
    page.fill("bits", "1024" + Keys.TAB)
    page.wait("the key is there", lambda: "verified this token" in page.words("keys"))
    page.find("own-time").click()
    page.wait_verdict("VERIFIED", "at its own time")
    page.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    shots(page, "verified")
    page.open()
    page.paste((root / "Tests/Vectors/mrss-tokens.txt").read_text().strip().splitlines()[0])
    page.wait_verdict("TOKEN_EXPIRED", "a token with an MRSS resource, pasted")
    page.find("own-time").click()
    signed = page.run("return fieldNamed(expectations.resource[1])")
    page.fill("expected-resource", re.sub("<rss version=\"([^\"]*)\"", r"<rss version='\1'", signed))
    page.wait("a setting that would help is called by its label", lambda: "would match (“Compare MRSS by its canonical XML”)" in page.words("checks"))
    page.fill("expected-resource", "<rss><channel/></rss>")
    page.wait_verdict("INVALID_RESOURCE_ID", "another MRSS resource is expected")
    page.wait("MRSS is shown with an element on each line", lambda: page.words("beside-expected").split() == ["<rss>", "<channel/>", "</rss>"]
              and len(page.words("beside-signed").splitlines()) > 5)
    shots(page, "mrss")


def shots(page, name):
    chromium.shots(page.driver, folder, name, ["#fields", "#calls"])


def nothing_left(page):
    kept = page.run("return [localStorage.length, sessionStorage.length, document.cookie, location.href, violations]")
    check(kept == [0, 0, "", page.url, []], f"nothing is stored, and the policy is not violated: {kept}")
    hosts = set()
    for entry in page.driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            address = urllib.parse.urlsplit(message["params"]["request"]["url"])
            # The first page of a new profile is Chromium's own.
            if address.scheme not in ["chrome", "data", "chrome-untrusted"]:
                hosts.add(address.hostname)
    check(hosts == {"127.0.0.1"}, f"every request goes to the loopback: {hosts}")
    # Chromium asks each server for an icon.
    messages = [entry["message"] for entry in page.driver.get_log("browser") if "favicon" not in entry["message"]]
    # A refused key is an answer with 400; a form without a user name is right here.
    messages = [message for message in messages if "400 (Bad Request)" not in message and "[DOM]" not in message]
    check(not messages, f"the console is empty: {messages}")


def foreign_requests(url):
    place = urllib.parse.urlsplit(url)
    own = f"{place.hostname}:{place.port}"
    question = json.dumps({"input": clear})

    def status(method="POST", path=None, host=own, **fields):
        fields = {"Content-Type": "application/json", "Origin": f"http://{own}", "Sec-Fetch-Site": "same-origin",
                  **{name.replace("_", "-"): value for name, value in fields.items()}}
        lines = [f"{method} {place.path + 'inspect' if path is None else path} HTTP/1.1", f"Host: {host}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in fields.items() if value is not None]
        body = question if method == "POST" else ""
        with socket.create_connection((place.hostname, place.port)) as connection:
            connection.sendall("\r\n".join(lines + [f"Content-Length: {len(body)}", "", body]).encode())
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        return int(answer.split()[1])

    check(len(re.sub(r"\W", "", place.path)) >= 32, "the path has 128 bits")
    check(status() == 200 and status("GET", place.path) == 200, "the page's own questions are answered")
    check(status(host=f"localhost:{place.port}", Origin=f"http://localhost:{place.port}") == 200, "so they are at localhost")
    for host in ["example.com", f"example.com:{place.port}", place.hostname, f"127.0.0.1:{place.port + 1}", f"{own}.example.com"]:
        check(status(host=host) == 404 and status("GET", place.path, host=host) == 404, f"Host {host} is refused")
    for origin in ["null", "https://example.com", f"https://{own}", f"http://localhost:{place.port}", None]:
        check(status(Origin=origin) == 403, f"Origin {origin} is refused")
    for site in ["cross-site", "same-site", "none"]:
        check(status(Sec_Fetch_Site=site) == 403, f"Sec-Fetch-Site {site} is refused")
    check(status(Content_Type="text/plain") == 403, "a form cannot ask")
    for path in ["/", "/inspect", place.path[:-2] + "/", place.path + "x", place.path + "?token=x", "/favicon.ico"]:
        check(status("GET", path) == 404 and status(path=path) == 404, f"{path[:12]} is not found")
    question = json.dumps({"input": clear, "options": {"resource-file": ["/etc/passwd"], "key": ["/etc/passwd"]}})
    check(status() == 200, "options that name files have no effect")
    check(status("DELETE", place.path) == 404, "other methods are not found")


with chromium.browser() as driver:
    with served() as url:
        page = Page(driver, url)
        for part in [pasted_forms, several_tokens, states, capture, late_answers, binary_files, personal_data, dropped_key, keystore, expectations,
                     taken_along, limits, time_line, other_kinds, pkcs12, grants, keyboard, accessibility, nothing_left]:
            part(page)
        foreign_requests(url)
    ended(page)
