"""What keeps the request that was sent, and the tools that judge it."""

import http.client
import json
import os
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from corpus import HERE, Late, wait


METHODS = {"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"}


class Request:
    """One request as it stood on the wire, and what Prism answered."""

    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.status, self.answer, self.violations = None, b"", None
        self.made = False


class Recorder:
    """Listens where the API would; keeps each request and passes it on to Prism."""

    def __init__(self):
        self.requests, self.port, self.process = [], None, None
        self.instead = None
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

    def to(self, port, process):
        """Where requests go from now on: a port of this process; no port: nowhere."""
        self.port, self.process = port, process

    def answer_with(self, text):
        """What stands in for an empty answer of Prism's; None: nothing."""
        self.instead = text

    def clear(self):
        self.requests = []

    def forward(self, request):
        if self.port is None:
            request.status = 0
            return 200, [("content-type", "application/json")], b"{}"
        headers = {name: value for name, value in request.headers.items() if name not in ("host", "transfer-encoding", "content-length", "connection", "accept-encoding")}
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            body = request.body if request.body or request.headers.get("content-length") else None
            connection.request(request.method, request.target, body=body, headers=headers)
            # Some requests make Prism throw where nothing answers any more.
            wait(self.process, connection.sock, 10, idle=5)
            answer = connection.getresponse()
            text = answer.read()
            out = answer.getheaders()
            connection.close()
        except (OSError, http.client.HTTPException, Late) as error:
            request.status = 0
            return 422, [("content-type", "text/plain")], str(error).encode()
        request.status, request.answer = answer.status, text
        request.violations = answer.getheader("sl-violations")
        if 200 <= answer.status < 300 and answer.status not in (204, 205) and not text and self.instead is not None:
            request.made = True
            return answer.status, [("content-type", "application/json")], self.instead
        # What Prism says of itself is not tried again.
        status = 422 if answer.status >= 500 and b"prism/errors" in text else answer.status
        return status, [(name, value) for name, value in out if name.lower() != "sl-violations"], text


class Prism:
    """`@stoplight/prism-cli` 5.14 in mock mode with errors on."""

    LARGE = 300_000
    SECONDS = 15

    def __init__(self):
        self.process, self.held = None, 0

    def open(self, file, size):
        """The port where this document is mocked, or None; and how: `whole`, or `lean`, which is without the schemas of its answers."""
        for how in ("whole", "lean") if size < self.LARGE else ("lean",):
            self.start(size)
            try:
                self.process.stdin.write(json.dumps({"file": str(file), "lean": how == "lean"}).encode() + b"\n")
                self.process.stdin.flush()
                wait(self.process, self.process.stdout, self.SECONDS)
                port = json.loads(self.process.stdout.readline() or b"{}").get("port")
            except (BrokenPipeError, ValueError, Late):
                port = None
                self.close()
            if port:
                return port, how
        return None, "no"

    def start(self, size):
        """A process for one large document or for several small ones: nothing that a document held is given back before its end."""
        self.held += size
        if self.process and self.process.poll() is None and self.held < self.LARGE:
            return
        self.close()
        self.held = size
        self.process = subprocess.Popen(["node", "--max-old-space-size=1500", str(HERE / "prism.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ))

    def close(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

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
        form = request.headers.get("content-type", "").partition(";")[0]
        if form == "application/x-www-form-urlencoded" and not request.body and "Body parameter is required" in f"{found} {problem}":
            return "unjudged", "a form without fields is an empty body"
        if found:
            if all(it.get("code") == "required" and empty(request, it["message"]) for it in found):
                return "unjudged", "prism takes an empty value for a missing one"
            return "bad", "; ".join(f"{'.'.join(map(str, it['location'][1:]))} {it['message']} [{it.get('code')}]" for it in found)
        if "prism/errors" in kind:
            name = kind.split("#")[-1]
            if problem.get("validation") and name != "VIOLATIONS":
                if all(it.get("code") == "required" and empty(request, str(it.get("message"))) for it in problem["validation"]):
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


def empty(request, message):
    """True if the query parameter or header that a message calls missing is there without a value."""
    name = re.search(r"required property '([^']*)'", message)
    pairs = parse_qsl(urlsplit(request.target).query, keep_blank_values=True) + list(request.headers.items())
    return bool(name) and any(key.lower() == name[1].lower() and not value for key, value in pairs)
