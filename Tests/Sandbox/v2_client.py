#!/usr/bin/env python3
"""A small, strict client of Adobe Pass REST API v2, written from the public pages alone.

It runs the flow that the pages describe, checks every answer against them and keeps one line for
each deviation.  Where the pages contradict each other it accepts both forms and keeps a note.

    v2_client.py BASE_URL --provider SP --mvpd MVPD --resource R [--user U --password P]

Steps, notes (--verbose) and deviations go to standard error, media tokens to standard output.
Exit status: 0 all as documented, 1 a deviation or a flow that could not go on, 2 wrong usage.
"""
import argparse, base64, collections, html.parser, http.client, http.cookiejar, json, ssl, sys, time, uuid
import urllib.error, urllib.parse, urllib.request

# ---- what the pages publish -----------------------------------------------------------------

ACTIONS = ("none", "configuration", "application-registration", "authentication", "authorization", "retry")
STATUSES = (400, 401, 403, 404, 405, 410, 412, 500)
# Enhanced Error Codes, list for REST API v2: code -> (status, action).
ERROR_CODES = {code: (status, action) for action, status, codes in (
    ("none", 400, """invalid_parameter_service_provider invalid_parameter_mvpd invalid_parameter_code
        invalid_parameter_resources invalid_parameter_redirect_url invalid_parameter_partner invalid_integration
        invalid_parameter_saml_response invalid_header_device_info invalid_header_device_identifier
        invalid_header_identity_for_temporary_access invalid_header_pfs_permission_access_not_present
        invalid_header_pfs_permission_access_not_determined invalid_header_pfs_permission_access_not_granted
        invalid_header_pfs_provider_id_not_determined invalid_header_pfs_provider_id_mismatch
        invalid_header_pfs_provider_info_expired invalid_authentication_session"""),
    ("none", 403, """preauthorization_denied_by_mvpd authorization_denied_by_mvpd
        authorization_denied_by_parental_controls authorization_denied_by_degradation_rule"""),
    ("none", 500, "internal_server_error"),
    ("configuration", 403, "too_many_resources"),
    ("configuration", 500, """invalid_configuration_user_metadata_certificate invalid_configuration_platform
        invalid_configuration_temporary_access invalid_configuration_platform_id invalid_configuration_platform_trait
        invalid_configuration_platform_category_trait invalid_configuration_platform_services
        invalid_configuration_mvpd_platform invalid_configuration_mvpd_platform_boarding_status
        invalid_configuration_mvpd_platform_profile_exchange"""),
    ("application-registration", 401, "invalid_access_token_service_provider invalid_access_token_client_application"),
    ("authentication", 403, """authenticated_profile_missing authenticated_profile_expired
        authenticated_profile_invalidated temporary_access_duration_limit_exceeded identity_not_recognized_by_mvpd
        temporary_access_resources_limit_exceeded authorization_denied_by_hba_policies
        authorization_denied_by_session_invalidated"""),
    ("retry", 403, "network_received_error network_connection_timeout maximum_execution_time_exceeded"),
) for code in codes.split()}
REGISTER_ERRORS = ("invalid_request", "invalid_redirect_uri", "invalid_software_statement",
                   "unapproved_software_statement")
TOKEN_ERRORS = ("invalid_request", "invalid_client", "unauthorized_client", "unsupported_grant_type")
REASONS = ("none", "authenticated", "temporary", "degraded")
SOURCES = ("mvpd", "degradation", "temppass", "dummy")
SSO_TYPES = ("appleSSO", "platformSSO", "serviceTokenSSO")
LOGOUT_TYPES = {"logout": "interactive", "partner_logout": "partner_interactive", "complete": "none", "invalid": "none"}
MS, MS_TEXT = "milliseconds", "milliseconds in a string"  # numbers everywhere, strings in the session answers
BEARER = ["Authorization"]
DEVICE = ["Authorization", "AP-Device-Identifier", "X-Device-Info"]
DEVICE_INFO = {"primaryHardwareType": "SetTopBox", "model": "Test box", "version": "1.0", "manufacturer": "Test",
               "vendor": "Test", "osName": "Linux", "osFamily": "Linux", "osVersion": "6.1", "connectionType": "LAN"}
JSON_TYPE = "application/json;charset=utf-8"
FORM_TYPE = "application/x-www-form-urlencoded"
CLOCK_LEEWAY = 2000  # milliseconds


class Broken(Exception):
    """The flow cannot go on; the reason is already among the deviations."""


def b64(text):
    return base64.b64encode(text.encode()).decode()


def now_ms():
    return int(time.time() * 1000)


def show(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 120 else text[:117] + "..."


# ---- checking -------------------------------------------------------------------------------

class Report:
    """Collects deviations (what breaks a page) and notes (what the pages leave open)."""

    def __init__(self, verbose=False, quiet=False):
        self.verbose, self.quiet, self.deviations, self.notes = verbose, quiet, [], []

    def step(self, name, text):
        if not self.quiet:
            print(f"{name:<13} {text}", file=sys.stderr)

    def deviation(self, where, text):
        self.deviations.append(f"{where}: {text}")

    def note(self, where, text):
        self.notes.append(f"{where}: {text}")
        if self.verbose:
            print(f"  note: {where}: {text}", file=sys.stderr)

    def broken(self, where, text):
        self.deviation(where, text)
        raise Broken(f"{where}: {text}")

    def kind(self, where, value, kind):
        """A kind is a type name or, for a closed list, the tuple of the possible values."""
        number = isinstance(value, int) and not isinstance(value, bool)
        if isinstance(kind, tuple):
            good, kind = any(value == k and type(value) is type(k) for k in kind), "one of " + ", ".join(map(str, kind))
        else:
            good = {"string": isinstance(value, str) and value != "", "text": isinstance(value, str),
                    "integer": number, "boolean": isinstance(value, bool), "object": isinstance(value, dict),
                    "array": isinstance(value, list), "any": True,
                    "strings": isinstance(value, list) and all(isinstance(v, str) for v in value),
                    "url": isinstance(value, str) and urllib.parse.urlsplit(value).scheme in ("http", "https"),
                    "milliseconds": number and 10 ** 12 <= value < 10 ** 14,
                    "seconds": number and 10 ** 9 <= value < 10 ** 11,
                    "milliseconds in a string": isinstance(value, str) and value.isdigit() and len(value) in (13, 14),
                    }[kind]
        if not good:
            self.deviation(where, f"must be {'a non-empty ' if kind == 'string' else ''}{kind}, is {show(value)}")
        return good

    def attributes(self, where, value, required, optional=None):
        if not self.kind(where, value, "object"):
            return False
        known = {**required, **(optional or {})}
        good = True
        for name, kind in known.items():
            if name in value:
                good &= self.kind(f"{where}.{name}", value[name], kind)
            elif name in required:
                self.deviation(f"{where}.{name}", "required attribute is missing")
                good = False
        for name in value:
            if name not in known:
                self.note(f"{where}.{name}", f"attribute is not on the page: {show(value[name])}")
        return good

    def window(self, where, value):
        """notBefore <= now <= notAfter, of the ones that are there (their types are checked elsewhere)."""
        for name, sign in (("notBefore", -1), ("notAfter", 1)):
            try:
                ahead = int(value[name]) - now_ms()
            except (KeyError, TypeError, ValueError):
                continue
            if ahead * sign < -CLOCK_LEEWAY:
                self.deviation(f"{where}.{name}", f"is {abs(ahead)} ms in the {'past' if sign > 0 else 'future'}")

    def content_type(self, where, headers, want="application/json"):
        value = headers.get("Content-Type") or ""
        media, _, parameters = value.partition(";")
        charset = parameters.strip().lower().replace('"', "")
        if media.strip().lower() != want or charset not in ("", "charset=utf-8"):
            self.deviation(where, f"Content-Type must be {want}, is {value or 'missing'}")

    def enhanced_error(self, where, value, http_status=None):
        """Check one Enhanced Error (top-level with the HTTP status, or item-level); returns its code."""
        self.attributes(where, value,
                        {"action": ACTIONS, "status": STATUSES, "code": "string", "message": "string",
                         "helpUrl": "url"},
                        {"details": "text", "trace": "string"})
        code = value.get("code") if isinstance(value, dict) else None
        if not isinstance(code, str):
            return None
        if code not in ERROR_CODES:
            self.deviation(f"{where}.code", f"{code} is not in the published list for REST API v2")
        else:
            for name, want in zip(("status", "action"), ERROR_CODES[code]):
                if name in value and value[name] != want:
                    self.deviation(f"{where}.{name}", f"the list has {show(want)} for {code}, is {show(value[name])}")
        if http_status is not None and value.get("status") != http_status:
            self.note(where, f"HTTP status {http_status}, status in the body {value.get('status')} (pages: may differ)")
        return code


# status, data (parsed JSON or None), error (top-level code or None); ok says if it is a success
Answer = collections.namedtuple("Answer", "status data error ok")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def send(opener, request, report, where, waits=10):
    """One HTTP exchange without following redirects: (status, headers, body)."""
    try:
        try:
            with opener.open(request, timeout=120) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as answer:
            with answer:
                result = answer.code, answer.headers, answer.read()
    except (OSError, ValueError, http.client.HTTPException) as error:
        report.broken(where, f"{request.get_method()} {request.full_url}: {error}")
    if result[0] == 429 and waits:  # throttling page: wait at least one second before a new request
        report.note(where, "status 429, waiting")
        time.sleep(1.1)
        return send(opener, request, report, where, waits - 1)
    return result


# ---- the user agent ---------------------------------------------------------------------------

class FormParser(html.parser.HTMLParser):
    """The first form of a page: its action, method, fields and which fields take user and password."""

    def __init__(self):
        super().__init__()
        self.action = None
        self.method, self.fields, self.user_field, self.password_field = "get", [], None, None
        self.inside = self.done = self.submitted = False

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag == "form" and not self.done:
            self.inside, self.action, self.method = True, a.get("action") or "", (a.get("method") or "get").lower()
        if not self.inside or tag not in ("input", "button") or not a.get("name"):
            return
        kind, name = (a.get("type") or ("submit" if tag == "button" else "text")).lower(), a["name"]
        if kind in ("checkbox", "radio") and "checked" not in a or kind in ("reset", "button", "image", "file"):
            return
        if kind == "submit":
            if self.submitted:
                return
            self.submitted = True
        if kind == "password" and not self.password_field:
            self.password_field = name
        elif kind in ("text", "email", "tel") and not self.user_field:
            self.user_field = name
        self.fields.append((name, a.get("value") or ""))

    def handle_endtag(self, tag):
        if tag == "form" and self.inside:
            self.inside, self.done = False, True


class UserAgent:
    """Follows redirects by hand, keeps cookies, submits forms; never fetches the redirectUrl."""

    def __init__(self, report, context=None):
        self.report = report
        # Browsers send "Secure" cookies to a loopback host over plain HTTP too, and so does this one.
        policy = http.cookiejar.DefaultCookiePolicy(secure_protocols=("https", "http"))
        self.opener = urllib.request.build_opener(
            NoRedirect, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar(policy)),
            urllib.request.HTTPSHandler(context=context))

    def open(self, url, redirect_url, fields=None, user=None, password=None, first_status=None, where="user agent"):
        """Go from url until redirect_url; returns the URLs on the way, the last one not fetched."""
        target, visited, body, logged_in = urllib.parse.urlsplit(redirect_url), [], None, False
        while True:
            at = urllib.parse.urlsplit(url)
            visited.append(url)
            if (at.scheme, at.netloc, at.path or "/") == (target.scheme, target.netloc, target.path or "/"):
                return visited
            if len(visited) > 25:
                self.report.broken(where, f"more than 25 requests without reaching {redirect_url}")
            request = urllib.request.Request(url, body, {"User-Agent": "v2-client agent", "Accept": "text/html,*/*"})
            status, headers, page = send(self.opener, request, self.report, where)
            if len(visited) == 1 and first_status and status != first_status:
                self.report.deviation(where, f"{url}: first answer must have status {first_status}, has {status}")
                if status >= 400:
                    self.report.content_type(where, headers, "text/html")
            if status in (301, 302, 303, 307, 308):
                if not headers.get("Location"):
                    self.report.broken(where, f"{url}: status {status} without Location")
                url = urllib.parse.urljoin(url, headers["Location"])
                body = body if status in (307, 308) else None
                continue
            if status != 200:
                self.report.broken(where, f"{url}: status {status}: {page[:200].decode('utf-8', 'replace')!r}")
            form = FormParser()
            form.feed(page.decode("utf-8", "replace"))
            if form.action is None:
                self.report.broken(where, f"{url}: neither a redirect nor a form")
            if form.password_field and logged_in:
                self.report.broken(where, f"{url}: the login form came again, the credentials were refused")
            logged_in = logged_in or bool(form.password_field)
            values = dict(fields or {})
            if form.password_field and user is not None:
                values.setdefault(form.user_field, user)
                values.setdefault(form.password_field, password or "")
            pairs = [(name, values.get(name, value)) for name, value in form.fields]
            url, body = urllib.parse.urljoin(url, form.action), urllib.parse.urlencode(pairs).encode()
            if form.method != "post":
                url, body = urllib.parse.urlsplit(url)._replace(query=body.decode(), fragment="").geturl(), None


# ---- the API ----------------------------------------------------------------------------------

class V2Client:
    """One application on one device.  Every call checks its answer and returns an Answer."""

    def __init__(self, base, provider, statement=None, device=None, identity=None, report=None, cafile=None):
        self.base, self.provider, self.identity = base.rstrip("/"), provider, identity
        self.device = device or str(uuid.uuid4())
        self.statement = statement or ".".join(
            b64(json.dumps(part)).rstrip("=") for part in ({"alg": "none"}, {"sub": "v2-client"})) + ".c2ln"
        self.report = report or Report()
        self.override = {}  # header name -> value, or None to leave the header out (for negative tests)
        context = ssl.create_default_context(cafile=cafile)
        self.opener = urllib.request.build_opener(NoRedirect, urllib.request.HTTPSHandler(context=context))
        self.user_agent = UserAgent(self.report, context)
        self.credentials, self.bearer, self.bearer_until = None, None, 0

    def url(self, path):
        return urllib.parse.urljoin(self.base + "/", path)

    def path(self, *parts):
        return "/api/v2/" + "/".join(urllib.parse.quote(p, safe="") for p in (self.provider,) + parts)

    def headers(self, names, content_type):
        made = {"Authorization": f"Bearer {self.bearer}",
                "AP-Device-Identifier": f"fingerprint {b64(self.device)}",
                "X-Device-Info": b64(json.dumps(DEVICE_INFO)),
                "AP-TempPass-Identity": self.identity and b64(json.dumps({"email": self.identity}))}
        chosen = {"Accept": JSON_TYPE, "User-Agent": "v2-client", "Content-Type": content_type}
        chosen.update({name: made[name] for name in names})
        chosen.update(self.override)
        return {name: value for name, value in chosen.items() if value}

    def call(self, where, method, path, names, form=None, body=None, success=200, errors=(400, 401, 405, 500),
             error_values=None):
        """Send one request, with the headers its page lists; 429 is waited out, 401 renews the token once."""
        data, content_type = None, None
        if form is not None:
            data, content_type = urllib.parse.urlencode(form).encode(), FORM_TYPE
        elif body is not None:
            data, content_type = json.dumps(body).encode(), JSON_TYPE
        renewed = False
        if "Authorization" in names and time.time() >= self.bearer_until:
            self.token()
        while True:
            request = urllib.request.Request(self.url(path), data, self.headers(names, content_type), method=method)
            status, headers, raw = send(self.opener, request, self.report, where)
            answer = self.examine(where, status, headers, raw, success, errors, error_values)
            if status == 401 and "Authorization" in names and not renewed and "Authorization" not in self.override:
                renewed = True
                self.report.note(where, f"status 401 ({answer.error}), new access token")
                self.token()
                continue
            return answer

    def examine(self, where, status, headers, raw, success, errors, error_values):
        report = self.report
        if status != success and status not in errors:
            # The decision pages list codes with status 403 among the top-level errors, but not that status.
            if status == 403 and "authorize" in where:
                report.note(where, "status 403 at top level (the page lists such codes, but not the status)")
            else:
                allowed = ", ".join(map(str, errors))
                report.deviation(where, f"status must be {success} (or an error: {allowed}), is {status}")
        if raw or status == success:
            report.content_type(where, headers)
        data = code = None
        if raw or status == success:
            try:
                data = json.loads(raw.decode("utf-8"))
            except ValueError as error:
                report.deviation(where, f"the body is not JSON in UTF-8 ({error})")
        if status >= 400 and data is not None:
            if error_values:  # client registration: {"error": ...}
                if report.attributes(f"{where} body", data, {"error": error_values}):
                    code = data["error"]
            elif isinstance(data, dict) and {"code", "action", "status"} & set(data):
                code = report.enhanced_error(f"{where} body", data, status)
            else:
                report.note(where, f"status {status} without an enhanced error (the page: may): {show(data)}")
        return Answer(status, data, code, status < 400 and data is not None)

    # -- dynamic client registration

    def register(self, redirect_uri=None):
        body = {"software_statement": self.statement, **({"redirect_uri": redirect_uri} if redirect_uri else {})}
        a = self.call("register", "POST", "/o/client/register", ["X-Device-Info"], body=body, success=201,
                      errors=(400,), error_values=REGISTER_ERRORS)
        if a.ok and self.report.attributes("register body", a.data, {
                "client_id": "string", "client_secret": "string", "client_id_issued_at": "seconds",
                "redirect_uris": "strings", "grant_types": "strings", "scopes": "strings"}):
            if "client_credentials" not in a.data["grant_types"]:
                self.report.deviation("register body.grant_types", "lacks client_credentials (token page)")
        self.credentials = a.data if a.ok and isinstance(a.data, dict) else None
        return a

    def token(self):
        if not self.credentials and not (self.register().ok and self.credentials):
            self.report.broken("token", "no client credentials")
        form = {name: self.credentials.get(name, "") for name in ("client_id", "client_secret")}
        a = self.call("token", "POST", "/o/client/token", ["X-Device-Info"], success=201, errors=(400,),
                      form={**form, "grant_type": "client_credentials"}, error_values=TOKEN_ERRORS)
        d, r = a.data, self.report
        if not a.ok or not r.attributes("token body", d, {"id": "string", "access_token": "string", "created_at": MS,
                                                          "expires_in": "integer", "token_type": "string"}):
            r.broken("token", f"no usable access token: status {a.status}, {a.error}")
        if d["token_type"].lower() != "bearer":
            r.deviation("token body.token_type", f"must be bearer, is {d['token_type']}")
        if not d["created_at"] - CLOCK_LEEWAY <= now_ms() <= d["created_at"] + d["expires_in"] * 1000:
            r.deviation("token body", "created_at (ms) <= now <= created_at + expires_in (s) does not hold")
        self.bearer, self.bearer_until = d["access_token"], time.time() + d["expires_in"]
        return a

    # -- configuration and sessions

    def configuration(self):
        a = self.call("configuration", "GET", self.path("configuration"), DEVICE)
        r, where = self.report, "configuration body"
        if not a.ok or not r.attributes(where, a.data, {"device": "string", "requestor": "object"}, {
                "clientType": "string", "errorReporting": "any", "mvpds": "array", "time": "any", "os": "string"}):
            return a
        if "time" not in a.data:
            r.note(where, "no time (required in the table, absent from the sample)")
        requestor = a.data["requestor"]
        r.attributes(where + ".requestor", requestor, {"id": (self.provider,), "name": "string", "domains": "array"},
                     {"mvpds": "array"})
        if "mvpds" not in requestor and "mvpds" not in a.data:
            r.deviation(where + ".mvpds", "required attribute is missing")
        flags = ("isTempPass", "isProxy", "enablePlatformServices", "enforcePlatformPermissions",
                 "displayInPlatformPicker")
        for i, mvpd in enumerate(self.mvpds(a)):
            r.attributes(f"{where}.mvpds[{i}]", mvpd, {"id": "string", "displayName": "string", "logoUrl": "text"},
                         {**{f: "boolean" for f in flags}, "boardingStatus": "any", "platformMappingId": "any"})
        return a

    @staticmethod
    def mvpds(answer):
        """The list of a configuration: the sample has it inside requestor, the table beside it; take either."""
        data = answer.data if isinstance(answer.data, dict) else {}
        requestor = data.get("requestor") if isinstance(data.get("requestor"), dict) else {}
        found = requestor.get("mvpds") or data.get("mvpds")
        return [m for m in found if isinstance(m, dict)] if isinstance(found, list) else []

    def create_session(self, mvpd=None, domain=None, redirect_url=None):
        return self.change_session("create session", self.path("sessions"), DEVICE, (mvpd, domain, redirect_url),
                                   ("authenticate", "resume", "authorize"), REASONS + ("authenticatedSSO",))

    def resume_session(self, code, mvpd=None, domain=None, redirect_url=None):
        return self.change_session("resume session", self.path("sessions", code), BEARER, (mvpd, domain, redirect_url),
                                   ("authenticate", "retry", "authorize"), REASONS)

    def change_session(self, where, path, names, values, actions, reasons):
        form = {k: v for k, v in zip(("mvpd", "domainName", "redirectUrl"), values) if v}
        a, r = self.call(where, "POST", path, names, form=form), self.report
        where += " body"
        if not a.ok or not r.attributes(where, a.data, {
                "actionName": actions, "actionType": ("interactive", "direct"), "reasonType": reasons,
                "sessionId": "string", "serviceProvider": (self.provider,)}, {
                "missingParameters": "strings", "url": "string", "code": "string", "mvpd": "string",
                "notBefore": MS_TEXT, "notAfter": MS_TEXT}):
            return a
        r.window(where, a.data)
        action = a.data["actionName"]
        if a.data["actionType"] != ("interactive" if action == "authenticate" else "direct"):
            r.deviation(where + ".actionType", f"{a.data['actionType']} does not go with actionName {action}")
        if (a.data["reasonType"] == "none") != (action != "authorize"):
            r.deviation(where + ".reasonType", f"{a.data['reasonType']} does not go with actionName {action}")
        # The samples of "authorize" have no code, though the table of the resume page requires it.
        needed = {"authenticate": ("url", "code"), "authorize": ("mvpd",)}
        for name in needed.get(action, ("code", "missingParameters")):
            if not a.data.get(name):
                r.deviation(f"{where}.{name}", f"is needed with actionName {action} (flow pages and samples)")
        return a

    def session(self, code):
        a = self.call("get session", "GET", self.path("sessions", code), BEARER)
        r, where = self.report, "get session body"
        if a.ok and r.attributes(where, a.data, {
                "existingParameters": "object", "device": "object", "notBefore": MS_TEXT, "notAfter": MS_TEXT},
                {"missingParameters": "strings"}):
            # "domain" in one sample, "domainName" in the other.
            r.attributes(where + ".existingParameters", a.data["existingParameters"], {"serviceProvider": "string"},
                         {name: "string" for name in ("mvpd", "domain", "domainName", "redirectUrl")})
            r.window(where, a.data)
        return a

    def login(self, url, redirect_url, user=None, password=None, fields=None):
        """Open the authenticate URL in the user agent, up to the redirectUrl; returns the URLs on the way."""
        return self.user_agent.open(self.url(url), redirect_url, fields, user, password, 302, "authenticate")

    # -- profiles

    def profiles(self):
        a = self.call("profiles", "GET", self.path("profiles"), DEVICE)
        return self.check_profiles("profiles body", ("regular",) + SSO_TYPES, a)

    def profile(self, mvpd):
        a = self.call("profile", "GET", self.path("profiles", mvpd), DEVICE + ["AP-TempPass-Identity"],
                      errors=(400, 401, 403, 405, 500))
        return self.check_profiles("profile body", ("regular", "degraded", "temporary") + SSO_TYPES, a, mvpd)

    def profile_by_code(self, code):
        a = self.call("profile/code", "GET", self.path("profiles", "code", code), BEARER + ["AP-TempPass-Identity"],
                      errors=(400, 401, 403, 405, 500))
        return self.check_profiles("profile/code body", ("regular", "degraded", "temporary"), a)

    def poll(self, code, mvpd, interval=3.0, tries=40):
        """Ask for the profile by code until it is there (the pages: every 3 to 5 seconds or more)."""
        for n in range(tries):
            a = self.profile_by_code(code)
            if not a.ok or mvpd in ((a.data or {}).get("profiles") or {}):
                return a
            if n + 1 < tries:
                time.sleep(interval)
        self.report.broken("profile/code", f"no profile of {mvpd} after {tries} requests")

    def check_profiles(self, where, types, a, only=None):
        r = self.report
        if not a.ok or not r.attributes(where, a.data, {"profiles": "object"}):
            return a
        for mvpd, profile in a.data["profiles"].items():
            at = f"{where}.profiles.{mvpd}"
            if only and mvpd != only:
                r.deviation(at, f"only the profile of {only} was asked for")
            if not r.attributes(at, profile, {"notBefore": MS, "notAfter": MS,
                                              "issuer": "string", "type": types, "attributes": "object"}):
                continue
            r.window(at, profile)
            issuer = {"degraded": "Adobe", "temporary": "Adobe", "appleSSO": "Apple"}.get(profile["type"], mvpd)
            if profile["issuer"] != issuer:
                r.deviation(f"{at}.issuer", f"must be {issuer} for type {profile['type']}, is {profile['issuer']}")
            if "userID" not in profile["attributes"]:
                r.deviation(f"{at}.attributes.userID", "mandatory user metadata is missing")
            for name, value in profile["attributes"].items():  # this form is in all the samples
                r.attributes(f"{at}.attributes.{name}", value, {"value": "any", "state": ("plain", "enc")})
        return a

    # -- decisions and logout

    def preauthorize(self, mvpd, resources):
        return self.decisions("preauthorize", mvpd, resources, DEVICE)

    def authorize(self, mvpd, resources):
        return self.decisions("authorize", mvpd, resources, DEVICE + ["AP-TempPass-Identity"])

    def decisions(self, kind, mvpd, resources, names):
        a = self.call(kind, "POST", self.path("decisions", kind, mvpd), names, body={"resources": resources})
        r, final = self.report, kind == "authorize"
        if not a.ok or not r.attributes(f"{kind} body", a.data, {"decisions": "array"}):
            return a
        optional = {"error": "object", **({"token": "object", "notBefore": MS, "notAfter": MS}
                                          if final else {})}
        answered = []
        for i, d in enumerate(a.data["decisions"]):
            at = f"{kind} body.decisions[{i}]"
            if not r.attributes(at, d, {"resource": "string", "serviceProvider": (self.provider,), "mvpd": (mvpd,),
                                        "authorized": "boolean", "source": SOURCES}, optional):
                continue
            answered.append(d["resource"])
            r.window(at, d)
            if "error" in d:
                r.enhanced_error(f"{at}.error", d["error"])
            if d["authorized"] and "error" in d:
                r.deviation(f"{at}.error", "error belongs to a Deny decision only")
            if not d["authorized"] and "error" not in d:
                r.note(at, "Deny without error (optional in the table)")
            if "token" in d and not (final and d["authorized"]):
                r.deviation(f"{at}.token", "a media token belongs to a Permit decision of authorize only")
            elif final and d["authorized"] and "token" not in d:
                r.deviation(f"{at}.token", "a Permit decision must have a media token (media token page, flow page)")
            elif "token" in d and r.attributes(f"{at}.token", d["token"], {
                    "notBefore": MS, "notAfter": MS, "serializedToken": "string"}, {"issuedAt": MS}):
                r.window(f"{at}.token", d["token"])
                try:
                    base64.b64decode(d["token"]["serializedToken"], validate=True)
                except ValueError:
                    r.deviation(f"{at}.token.serializedToken", "is not Base64")
        if sorted(answered) != sorted(resources):
            r.deviation(f"{kind} body.decisions", f"answers {show(answered)}, asked for {show(resources)}")
        return a

    def logout(self, mvpd, redirect_url, follow=True):
        query = "?" + urllib.parse.urlencode({"redirectUrl": redirect_url})
        a = self.call("logout", "GET", self.path("logout", mvpd) + query, DEVICE)
        r = self.report
        if not a.ok or not r.attributes("logout body", a.data, {"logouts": "object"}):
            return a
        if mvpd not in a.data["logouts"]:
            r.deviation("logout body.logouts", f"lacks {mvpd}")
        for name, entry in a.data["logouts"].items():
            at = f"logout body.logouts.{name}"
            if not r.attributes(at, entry, {
                    "actionName": tuple(LOGOUT_TYPES), "actionType": tuple(sorted(set(LOGOUT_TYPES.values()))),
                    "mvpd": (name,)}, {"url": "string"}):
                continue
            action = entry["actionName"]
            if entry["actionType"] != LOGOUT_TYPES[action]:
                r.deviation(f"{at}.actionType", f"{action} goes with {LOGOUT_TYPES[action]}, is {entry['actionType']}")
            if action in ("complete", "invalid") and "url" in entry or action == "logout" and "url" not in entry:
                r.deviation(f"{at}.url", f"must {'not ' if 'url' in entry else ''}be there with actionName {action}")
            elif action == "logout" and follow:
                self.user_agent.open(self.url(entry["url"]), redirect_url, where="logout URL")
        return a


# ---- the command line -------------------------------------------------------------------------

def run(o, report):
    """The whole flow; returns the media tokens."""
    def app(device=None):
        return V2Client(o.base, o.provider, o.statement, device, o.identity, report, o.ca)

    def passed(name, a, text=None):
        """Say how a step went; a refusal is right only if its code is the expected one."""
        if a.ok:
            report.step(name, text(a.data) if text else f"status {a.status}")
        else:
            report.step(name, f"refused: status {a.status} {a.error}")
            if not o.expect or a.error != o.expect:
                report.broken(name, f"refused: status {a.status}, code {a.error}")
        return a.ok

    def start(client, name=""):
        passed(name + "register", client.register(), lambda d: f"client_id {d.get('client_id')}")
        passed(name + "token", client.token(), lambda d: f"expires in {d.get('expires_in')} s")

    first = app(o.device)
    start(first)
    conf = first.configuration()
    passed("configuration", conf, lambda d: f"{len(first.mvpds(conf))} mvpds")
    mvpd = next((m for m in first.mvpds(conf) if m.get("id") == o.mvpd), None)
    if mvpd is None and not o.expect:
        report.deviation("configuration body.mvpds", f"{o.mvpd} is not listed")
    elif mvpd and bool(mvpd.get("isTempPass")) != o.temp_pass:
        report.deviation("configuration body.mvpds", f"isTempPass of {o.mvpd} must be {o.temp_pass}")

    second, session_text = first, lambda d: f"{d.get('actionName')} {d.get('reasonType')} code {d.get('code')}"
    if o.second_screen:
        s = first.create_session()
        if passed("session", s, session_text):
            if s.data.get("actionName") != "resume" or not s.data.get("code"):
                report.broken("create session body", "without parameters the answer must be resume, with a code")
            second = app()
            start(second, "2nd ")
            code = s.data["code"]
            passed("2nd session", second.session(code), lambda d: f"missing {d.get('missingParameters')}")
            s = second.resume_session(code, o.mvpd, o.domain, o.redirect_url)
            passed("2nd resume", s, session_text)
    else:
        s = first.create_session(o.mvpd, o.domain, o.redirect_url)
        passed("session", s, session_text)
    session = s.data if s.ok and isinstance(s.data, dict) else {}
    action = session.get("actionName")
    if s.ok and o.temp_pass and (action, session.get("reasonType")) != ("authorize", "temporary"):
        report.deviation("create session body", "a TempPass session must be authorize, temporary")
    if s.ok and action not in ("authenticate", "authorize"):
        report.broken("session", f"all parameters were given, but actionName is {action}")
    logged_in = action == "authenticate" and not o.no_login and not o.temp_pass
    if logged_in:
        way = second.login(session.get("url", ""), o.redirect_url, o.user, o.password, dict(o.field))
        report.step("login", f"{len(way)} URLs up to {way[-1]}")
        code = session.get("code", "")
        passed("profile/code", first.poll(code, o.mvpd, o.poll), lambda d: ", ".join(d["profiles"]))
    must_have = (logged_in or action == "authorize") and not o.expect
    names = lambda d: ", ".join(f"{m} ({p.get('type')})" for m, p in d.get("profiles", {}).items()) or "none"
    everything, one = first.profiles(), first.profile(o.mvpd)
    for name, a in (("profiles", everything), ("profile", one)):
        # Only the page for one mvpd lists degraded and temporary profiles.
        regular = name == "profile" or session.get("reasonType") in ("none", "authenticated")
        if passed(name, a, names) and must_have and regular and o.mvpd not in a.data.get("profiles", {}):
            report.deviation(f"{name} body.profiles", f"lacks the profile of {o.mvpd}")

    def tally(d):
        return ", ".join(f"{x.get('resource')}: {'permit' if x.get('authorized') else 'deny'} ({x.get('source')})"
                         f"{' ' + str(x['error'].get('code')) if x.get('error') else ''}" for x in d["decisions"])

    passed("preauthorize", first.preauthorize(o.mvpd, o.resource), tally)
    tokens, refusals = [], []
    for resources in [[r] for r in o.resource] if o.one_by_one else [o.resource]:
        a = first.authorize(o.mvpd, resources)
        if not a.ok:
            refusals.append(a.error)
        elif isinstance(a.data.get("decisions"), list):
            for d in a.data["decisions"]:
                if d.get("authorized") is True:
                    tokens.append((d.get("token") or {}).get("serializedToken") or "")
                else:
                    refusals.append((d.get("error") or {}).get("code"))
        passed("authorize", a, tally)
    if o.expect and o.expect not in refusals:
        report.deviation("authorize", f"must be refused with {o.expect}, was {refusals or 'permitted'}")
    if not o.expect and not tokens:
        report.deviation("authorize", f"no resource was permitted: {refusals} (see --expect)")
    if o.logout:
        passed("logout", first.logout(o.mvpd, o.redirect_url), lambda d: ", ".join(
            f"{m} {x.get('actionName')}" for m, x in d["logouts"].items()))
        a = first.profile(o.mvpd)
        if passed("profile", a, names) and not o.temp_pass and o.mvpd in a.data["profiles"]:
            report.deviation("profile body.profiles", f"still has {o.mvpd} after the logout")
    return [t for t in tokens if t]


def main(arguments=None):
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("base", metavar="BASE_URL")
    for name in ("--provider", "--mvpd"):
        p.add_argument(name, required=True)
    p.add_argument("--resource", required=True, action="append")
    for name in ("--user", "--password", "--identity", "--device", "--ca"):
        p.add_argument(name)
    p.add_argument("--statement", help="software statement; @FILE reads it from a file")
    p.add_argument("--expect", metavar="CODE", choices=sorted(ERROR_CODES), help="the authorization must be refused so")
    p.add_argument("--domain", default="adobe.com", help="domainName (default %(default)s)")
    p.add_argument("--redirect-url", default="https://adobe.com/v2-client/done",
                   help="never fetched (default %(default)s)")
    p.add_argument("--field", action="append", default=[], metavar="NAME=VALUE", type=lambda t: tuple(t.split("=", 1)))
    p.add_argument("--poll", type=float, default=3.0, metavar="SECONDS", help="between two polls (default %(default)s)")
    for name in ("--no-login", "--second-screen", "--temp-pass", "--one-by-one", "--logout", "--quiet", "--verbose"):
        p.add_argument(name, action="store_true")
    o = p.parse_args(arguments)
    if o.statement and o.statement.startswith("@"):
        with open(o.statement[1:], encoding="ascii") as file:
            o.statement = file.read().strip()
    report, tokens = Report(o.verbose, o.quiet), []
    try:
        tokens = run(o, report)
    except Broken:
        pass
    except (KeyError, TypeError, AttributeError) as error:  # an answer too far from its page to go on with
        report.deviation("flow", f"stopped, an answer has not the documented form: {error!r}")
    for token in tokens:
        print(token)
    for line in report.deviations:
        print(f"DEVIATION {line}", file=sys.stderr)
    return 1 if report.deviations else 0


if __name__ == "__main__":
    sys.exit(main())
