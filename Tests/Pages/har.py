#!/usr/bin/env python3
"""Plays tokens against a gate from a page in Chromium, and prints the HAR file of it: har.py GATE MINUTES < TOKENS

GATE is the URL of the gate; each line of standard input is a token, which is played for requestor MML and resource TNT. The clock of
the browser's file is MINUTES behind that of the gate.
"""
import datetime, json, sys

import chromium

gate, behind = sys.argv[1], datetime.timedelta(minutes=int(sys.argv[2]))


def entries(driver):
    """The entries of the archive, as the developer tools write them, from what the browser says of its network."""
    requests = {}
    for record in driver.get_log("performance"):
        event = json.loads(record["message"])["message"]
        if event["method"] == "Network.requestWillBeSent":
            requests[event["params"]["requestId"]] = event["params"]
        if event["method"] == "Network.responseReceived" and event["params"]["response"]["url"].startswith(f"{gate}/v1/"):
            asked, answer = requests[event["params"]["requestId"]], event["params"]["response"]
            begun = datetime.datetime.fromtimestamp(asked["wallTime"], datetime.timezone.utc) - behind
            body = driver.execute_cdp_cmd("Network.getResponseBody", {"requestId": event["params"]["requestId"]})
            yield {
                "startedDateTime": begun.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                "request": {"method": asked["request"]["method"], "url": asked["request"]["url"],
                            "headers": headers(asked["request"]["headers"]),
                            "postData": {"mimeType": "text/plain", "text": asked["request"].get("postData", "")}},
                "response": {"status": answer["status"], "headers": headers(answer["headers"]),
                             "content": {"mimeType": answer["mimeType"], "text": body["body"]}}}


def headers(given):
    return [{"name": name, "value": value} for name, value in given.items()]


with chromium.browser() as driver:
    driver.get(f"{gate}/healthz")
    for token in sys.stdin.read().split("\n"):
        if token:
            driver.execute_async_script("""fetch('/v1/verify?requestor=MML&resource=TNT',
                {method: 'POST', headers: {'Content-Type': 'text/plain'}, body: arguments[0]})
                .then(answer => answer.text()).then(arguments[arguments.length - 1])""", token)
    print(json.dumps({"log": {"version": "1.2", "creator": {"name": "Chromium"}, "entries": list(entries(driver))}}))
