"""A small REST API for the interop run: exact bytes, a line stream, a job, and an endpoint that notices when its caller goes away.
usage: backend.py PORT"""
import base64, json, select, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

# A PNG of one pixel: every client must get these bytes.
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
lock = threading.Lock()
counts = {"slow_started": 0, "slow_gone": 0, "slow_finished": 0, "deleted": 0, "ordered": 0}
jobs = {}
# A text that can be changed.
board = ["empty"]


def count(name):
    with lock:
        counts[name] += 1


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="application/json", **headers):
        if not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"null")

    def do_GET(self):
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        if url.path == "/echo":
            return self.answer(200, query.get("text", "").encode(), "text/plain; charset=utf-8")
        if url.path == "/pixel":
            return self.answer(200, PIXEL, "image/png")
        if url.path == "/board":
            return self.answer(200, board[0].encode(), "text/plain; charset=utf-8")
        if url.path == "/counts":
            with lock:
                return self.answer(200, dict(counts))
        if url.path == "/count":
            return self.lines(int(query["to"]))
        if url.path == "/slow":
            return self.slow()
        if url.path.startswith("/jobs/"):
            with lock:
                job = jobs.get(url.path[6:])
                if job:
                    job["percent"] = min(100, job["percent"] + 50)
                    job["state"] = "done" if job["percent"] == 100 else "running"
            return self.answer(200, job) if job else self.answer(404, {"message": "no such job"})
        self.answer(404, {"message": "no such path"})

    def do_POST(self):
        if self.path == "/orders":
            count("ordered")
            return self.answer(201, {"placed": self.body()})
        if self.path == "/jobs":
            with lock:
                job = {"id": str(len(jobs) + 1), "name": self.body()["name"], "state": "queued", "percent": 0}
                jobs[job["id"]] = job
            return self.answer(202, job, Location=f"/jobs/{job['id']}")
        self.answer(404, {"message": "no such path"})

    def do_PUT(self):
        board[0] = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self.answer(204)

    def do_DELETE(self):
        count("deleted")
        self.answer(204)

    def lines(self, to):
        """One line a step, each its own chunk, then the sum."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for item in [{"step": n, "of": to} for n in range(1, to + 1)] + [{"sum": to * (to + 1) // 2}]:
            line = json.dumps(item).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def slow(self):
        """Says nothing for 30 seconds; an end of file in that time means that the caller is gone."""
        count("slow_started")
        readable, _, _ = select.select([self.connection], [], [], 30)
        if readable:
            count("slow_gone")
            self.close_connection = True
        else:
            count("slow_finished")
            self.answer(200, {"slow": True})


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
