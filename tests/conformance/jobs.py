#!/usr/bin/env python3
"""Long-running jobs behind REST, for the tasks scenarios of the conformance suite. stdlib only; usage: jobs.py PORT"""
import itertools
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

numbers = itertools.count(1)
jobs = {}
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def out(self, status, body, headers=(), media="application/json"):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def accept(self, seconds, **what):
        """A new job; one that takes no time is done at once."""
        with lock:
            number = str(next(numbers))
            jobs[number] = {"until": time.monotonic() + seconds, "what": what}
        if seconds <= 0:
            return self.out(200, self.state(number))
        self.out(202, {"id": number, "state": "queued"}, [("Location", "/jobs/" + number)])

    def state(self, number):
        job = jobs[number]
        over = time.monotonic() >= job["until"]
        end = "failed" if job["what"].get("fails") else "done"
        body = {"id": number, "state": end if over else "running"}
        if over:
            body.update({key: value for key, value in job["what"].items() if key not in ("fails", "breaks")})
        return body

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}") if length else {}
        path = self.path.split("?")[0]
        if self.command == "POST" and path == "/computations":
            return self.accept(body.get("seconds", 1), label=body.get("label"))
        if self.command == "POST" and path == "/failures":
            return self.accept(1, fails=True, message="The job failed, as it always does.")
        if self.command == "POST" and path == "/crashes":
            return self.accept(1, breaks=True)
        if self.command == "POST" and path == "/introductions":
            return self.accept(0.2, message="%s, meet %s." % (body.get("first"), body.get("second")))
        if self.command == "DELETE" and path.startswith("/files/"):
            return self.accept(0.2, message="Deleted " + path.removeprefix("/files/"))
        if self.command == "GET" and path.startswith("/jobs/"):
            number = path.removeprefix("/jobs/")
            if number not in jobs:
                return self.out(404, {"title": "No such job", "status": 404}, media="application/problem+json")
            job = jobs[number]
            if job["what"].get("breaks") and time.monotonic() >= job["until"]:
                return self.out(200, "Traceback: the job runner is gone", media="text/plain")
            return self.out(200, self.state(number))
        self.out(404, {"title": "Not Found", "status": 404}, media="application/problem+json")

    do_GET = do_POST = do_DELETE = handle_any


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
