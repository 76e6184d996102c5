"""A Chromium that asks no other host than this one, for the scripts beside this one."""
import base64, contextlib, tempfile

from axe_core_python.selenium import Axe
from selenium import webdriver


def check(holds, what):
    if not holds:
        raise SystemExit(f"does not hold: {what}")
    print(f"holds: {what}", flush=True)


@contextlib.contextmanager
def browser():
    """Yields a driver. Its pages note in `violations` where they break their policy."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for argument in ["--headless=new", "--no-sandbox", f"--user-data-dir={profile}", "--disable-background-networking",
                         "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-dev-shm-usage",
                         "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        try:
            driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source":
                "window.violations = []; document.addEventListener('securitypolicyviolation', event => "
                "violations.push(event.violatedDirective + ' ' + event.blockedURI));"})
            yield driver
        finally:
            driver.quit()


def shots(driver, folder, name, tables=()):
    """Looks at the page in each scheme and width, and puts a screenshot of each into the folder. Values of these tables may not be narrow."""
    for scheme in ["light", "dark"]:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        for width in [360, 800, 1280]:
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                   {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            findings = Axe().run(driver)["violations"]
            details = [(finding["id"], [node["html"][:120] for node in finding["nodes"]][:3]) for finding in findings]
            check(not findings, f"axe finds nothing on {name}, {scheme}, {width} px {details or ''}")
            check(driver.execute_script("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"), f"nothing is wider than {width} px")
            narrow = [table for table in tables if driver.execute_script(
                "return [...document.querySelectorAll(arguments[0])].some(cell => cell.innerText && cell.offsetHeight > 200 && cell.offsetWidth < 100)", f"{table} td")]
            check(not narrow, f"no value has a few letters in a line at {width} px")
            shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
            (folder / f"{name}-{scheme}-{width}.png").write_bytes(base64.b64decode(shot["data"]))
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
