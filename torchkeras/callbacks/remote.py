"""`RemoteMonitor`: an epoch's numbers, posted to a server."""

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
import warnings
from collections.abc import Mapping
from typing import Any

from torchkeras.base.rules import FLAG_OR_DIGIT, STRING, optional, read, rule
from torchkeras.callbacks.base import Callback
from torchkeras.callbacks.logs import numbers

TIMEOUT = 10.0  # seconds; training waits for the server's answer
ADDRESS = rule(
    "must begin with http:// or https://", lambda v: isinstance(v, str) and v.startswith(("http://", "https://"))
)
HEADERS = rule(
    "must be a dictionary of strings",
    lambda v: isinstance(v, Mapping) and all(isinstance(each, str) for item in v.items() for each in item),
)


class RemoteMonitor(Callback):
    """Posts `{"epoch": 0, "loss": ...}` to the address `root + path` after each epoch.

    Training waits up to 10 seconds for the server. When it cannot be reached, a warning says so and training continues.
    The status of an answer does not matter.

    Options:
        root (text, default "http://localhost:9000"): the address of the server.
        path (text, default "/publish/epoch/end/"): what follows the address.
        field (text, default "data"): the field of the form that holds the JSON, unless `send_as_json`.
        headers (dict or None, default None): further HTTP headers.
        send_as_json (bool, default False): whether the body is JSON, in place of a form.

    Errors:
        ValueError: an option has a bad value.

    Example:
        >>> RemoteMonitor("https://example.com", send_as_json=True).path
        '/publish/epoch/end/'

    Source: https://keras.io/api/callbacks/remote_monitor/
    """

    main_only = True
    keeps_records = True

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: Mapping[str, str] | None = None,
        send_as_json: bool = False,
    ):
        self.root = read("RemoteMonitor", "root", ADDRESS, root)
        self.path = read("RemoteMonitor", "path", STRING, path)
        self.field = read("RemoteMonitor", "field", STRING, field)
        self.headers = read("RemoteMonitor", "headers", optional(HEADERS), headers)
        self.send_as_json = read("RemoteMonitor", "send_as_json", FLAG_OR_DIGIT, send_as_json)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        request = self._request({"epoch": epoch, **{name: _as_json(value) for name, value in numbers(logs).items()}})
        try:
            urllib.request.urlopen(request, timeout=TIMEOUT).close()
        except urllib.error.HTTPError as error:  # the server answered; its status does not matter
            error.close()
        except (OSError, http.client.HTTPException) as error:
            warnings.warn(f"RemoteMonitor: could not reach the server at {self.root}: {error}.", stacklevel=2)

    def _request(self, message: Mapping[str, Any]) -> urllib.request.Request:
        text = json.dumps(message)
        kind, body = "application/json", text
        if not self.send_as_json:
            kind, body = "application/x-www-form-urlencoded", urllib.parse.urlencode({self.field: text})
        headers = {"Content-Type": kind, **(self.headers or {})}
        return urllib.request.Request(self.root + self.path, body.encode(), headers, method="POST")


def _as_json(value: Any) -> Any:
    """What JSON can hold: an array or a tensor as numbers in lists."""
    return value.tolist() if hasattr(value, "tolist") else value
