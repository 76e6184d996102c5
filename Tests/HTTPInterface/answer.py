"""Reads every answer of a gate, and every line of `media-token verify --json`, as one type."""
import dataclasses, json, typing


@dataclasses.dataclass
class Answer:
    code: str
    number: typing.Optional[int] = None
    consumed: typing.Optional[str] = None
    status: typing.Optional[int] = None
    title: typing.Optional[str] = None
    detail: typing.Optional[str] = None
    check: typing.Optional[str] = None
    advice: typing.Optional[str] = None
    key: typing.Optional[str] = None
    requestor: typing.Optional[str] = None
    resource: typing.Optional[str] = None
    mvpd: typing.Optional[str] = None
    proxyMvpd: typing.Optional[str] = None
    issueTime: typing.Optional[str] = None
    ttl: typing.Optional[int] = None
    expires: typing.Optional[int] = None
    secondsLeft: typing.Optional[int] = None
    token: typing.Optional[str] = None
    found: typing.Optional[int] = None
    line: typing.Optional[int] = None
    way: typing.Optional[list] = None
    entry: typing.Optional[int] = None
    cut: typing.Optional[str] = None
    action: typing.Optional[str] = None
    reportOnly: typing.Optional[bool] = None
    would_be: typing.Optional[str] = None
    url: typing.Optional[str] = None
    kind: typing.Optional[str] = None
    fields: typing.Optional[dict] = None
    checks: typing.Optional[list] = None

    @property
    def is_accepted(self):
        return self.code == "VALID_TOKEN"


def read(text):
    return Answer(**json.loads(text))
