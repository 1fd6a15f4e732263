"""What keeps the request that was sent, and the tools that judge it."""

import http.client
import json
import os
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import yaml
from corpus import HERE


METHODS = {"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"}


class Request:
    """One request as it stood on the wire, and what Prism answered."""

    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.status, self.answer, self.violations = None, b"", None


class Recorder:
    """Listens where the API would; keeps each request and passes it on to Prism."""

    def __init__(self):
        self.requests, self.port = [], None
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except (ConnectionError, ValueError):
                    self.close_connection = True

            def __getattr__(self, name):
                if name.startswith("do_"):
                    return self.serve
                raise AttributeError(name)

            def serve(self):
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length) if length else self.chunked() if "chunked" in self.headers.get("transfer-encoding", "") else b""
                headers = {}
                for name, value in self.headers.items():
                    name = name.lower()
                    headers[name] = f"{headers[name]}, {value}" if name in headers else value
                request = Request(self.command, self.path, headers, body)
                recorder.requests.append(request)
                status, out, text = recorder.forward(request)
                self.send_response(status)
                for name, value in out:
                    if name.lower() not in ("connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"):
                        self.send_header(name, value)
                if status not in (204, 304):
                    self.send_header("content-length", str(len(text)))
                self.end_headers()
                if self.command != "HEAD" and status not in (204, 304):
                    self.wfile.write(text)

            def chunked(self):
                out = b""
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    out += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return out

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def to(self, port):
        self.port = port

    def clear(self):
        self.requests = []

    def forward(self, request):
        if self.port is None:
            request.status = 0
            return 200, [("content-type", "application/json")], b"{}"
        headers = {name: value for name, value in request.headers.items() if name not in ("host", "transfer-encoding", "content-length", "connection", "accept-encoding")}
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            body = request.body if request.body or request.headers.get("content-length") else None
            connection.request(request.method, request.target, body=body, headers=headers)
            answer = connection.getresponse()
            text = answer.read()
            out = answer.getheaders()
            connection.close()
        except (OSError, http.client.HTTPException) as error:
            request.status = 0
            return 502, [("content-type", "text/plain")], str(error).encode()
        request.status, request.answer = answer.status, text
        request.violations = answer.getheader("sl-violations")
        return answer.status, [(name, value) for name, value in out if name.lower() != "sl-violations"], text


class Prism:
    """`@stoplight/prism-cli` 5.14 in mock mode with errors on."""

    def __init__(self):
        self.process = None

    def open(self, file):
        """The port where this document is mocked, or None."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(["node", "--max-old-space-size=1500", str(HERE / "prism.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ))
        try:
            self.process.stdin.write(f"{file}\n".encode())
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline() or b"{}").get("port")
        except (BrokenPipeError, ValueError):
            return None

    @staticmethod
    def verdict(request):
        """`good`, `bad` or `unjudged`, and why."""
        if request.status in (None, 0):
            return "unjudged", "prism does not take the document or the request"
        problem = {}
        try:
            problem = json.loads(request.answer)
        except ValueError:
            pass
        kind = str(problem.get("type", "")) if isinstance(problem, dict) else ""
        found = []
        if request.violations:
            try:
                found = [it for it in json.loads(request.violations) if it.get("location", [""])[0] == "request" and it.get("severity") == "Error"]
            except ValueError:
                return "bad", request.violations[:400]
        if found:
            if all(it.get("code") == "required" and empty(request.target, it["message"]) for it in found):
                return "unjudged", "prism takes an empty value for a missing one"
            return "bad", "; ".join(f"{'.'.join(map(str, it['location'][1:]))} {it['message']} [{it.get('code')}]" for it in found)
        if "prism/errors" in kind:
            name = kind.split("#")[-1]
            if problem.get("validation") and name != "VIOLATIONS":
                if all(it.get("code") == "required" and empty(request.target, str(it.get("message"))) for it in problem["validation"]):
                    return "unjudged", "prism takes an empty value for a missing one"
                return "bad", "; ".join(f"{'.'.join(map(str, it.get('location', [])))} {it.get('message', it)} [{it.get('code')}]" for it in problem["validation"])
            if request.method not in METHODS:
                return "unjudged", f"prism does not know the method {request.method}"
            if name in ("NO_RESPONSE_RESPONSE_DEFINED", "NO_COMPLEX_OBJECT_TEXT", "VIOLATIONS", "NO_RESPONSE_DEFINED", "NOT_ACCEPTABLE", "NOT_FOUND", "UNKNOWN"):
                # The request passed; the document has no answer, or none that fits its own schema.
                return "good", name
            if name == "NO_PATH_MATCHED_ERROR" or name == "NO_METHOD_MATCHED_ERROR" or name == "INVALID_CONTENT_TYPE" or name == "UNAUTHORIZED" or name == "UNPROCESSABLE_ENTITY" or name.startswith("NO_"):
                return "bad", f"{name}: {problem.get('detail', '')}"
            return "unjudged", name
        return "good", ""


def empty(target, message):
    """True if the query parameter that a message calls missing is there without a value."""
    name = re.search(r"required property '([^']*)'", message)
    return bool(name) and any(key.lower() == name[1] and not value for key, value in parse_qsl(urlsplit(target).query, keep_blank_values=True))


class Loader(yaml.CSafeLoader):
    """YAML without dates and with two words for booleans, as 1.2's core schema has it."""


Loader.yaml_implicit_resolvers = {
    key: [it for it in value if it[0] not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool")] for key, value in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def keyed(node):
    """Keys as text: response codes are written as numbers."""
    if isinstance(node, dict):
        return {str(key) if not isinstance(key, bool) else str(key).lower(): keyed(value) for key, value in node.items()}
    if isinstance(node, list):
        return [keyed(item) for item in node]
    return node


class Core:
    """Python's openapi-core, with the document's servers replaced by the one that records."""

    def __init__(self, file, url):
        self.api, self.url, self.why = None, url, ""
        try:
            from openapi_core import Config, OpenAPI

            with open(file, encoding="utf-8") as text:
                document = keyed(yaml.load(text, Loader)) if file.suffix != ".json" else json.load(text)
            if "openapi" not in document:
                self.why = "openapi-core reads 3.x only"
                return
            document["servers"] = [{"url": url}]
            for path in document.get("paths", {}).values():
                if isinstance(path, dict):
                    path.pop("servers", None)
                    for operation in path.values():
                        if isinstance(operation, dict):
                            operation.pop("servers", None)
            self.api = OpenAPI.from_dict(document, base_uri=file.as_uri(), config=Config(spec_validator_cls=None))
        except Exception as error:  # noqa: BLE001 - whatever the oracle does not read
            self.why = f"openapi-core does not read the document: {type(error).__name__}"

    def verdict(self, request):
        """`good`, `bad` or `unjudged`, and why."""
        if self.api is None:
            return "unjudged", self.why
        from generate import Late, within
        from openapi_core.exceptions import OpenAPIError
        from openapi_core.templating.paths.exceptions import OperationNotFound, PathNotFound
        from openapi_core.testing import MockRequest

        split = urlsplit(self.url + request.target)
        from werkzeug.datastructures import Headers, ImmutableMultiDict
        from urllib.parse import unquote

        one = MockRequest(self.url, request.method, split.path, headers=request.headers, data=request.body or None, content_type=request.headers.get("content-type", ""))
        one.parameters.query = ImmutableMultiDict(parse_qsl(split.query, keep_blank_values=True))
        one.parameters.header = Headers(list(request.headers.items()))
        cookies = [part.strip().partition("=") for part in request.headers.get("cookie", "").split(";") if part.strip()]
        one.parameters.cookie = ImmutableMultiDict([(name, unquote(value)) for name, _, value in cookies])
        try:
            with within(10):
                errors = list(self.api.iter_request_errors(one))
        except OperationNotFound as error:
            return ("bad" if request.method in METHODS else "unjudged"), f"OperationNotFound: {error}"
        except (PathNotFound,) as error:
            return "unjudged", f"path not found: {error}"[:80]
        except OpenAPIError as error:
            return "bad", causes(error, True)[:500]
        except Late:
            return "unjudged", "too slow"
        except Exception as error:  # noqa: BLE001 - faults of the oracle
            return "unjudged", f"openapi-core fails: {type(error).__name__}"
        if not errors:
            return "good", ""
        return "bad", "; ".join(f"{causes(error, True)}" for error in errors)[:500]


def causes(error, itself=False):
    """An exception and what stands behind it."""
    found = []
    cause = error if itself else error.__cause__
    while cause is not None and len(found) < 4:
        try:
            text = str(cause)
        except Exception:  # noqa: BLE001 - some of the oracle's own can't be shown
            text = ""
        details = [getattr(it, "message", str(it)) for it in getattr(cause, "schema_errors", [])][:3]
        found.append(" ".join([type(cause).__name__, *details, text])[:300])
        cause = cause.__cause__
    return " <- ".join(found)
