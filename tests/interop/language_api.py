"""The REST API of `language.json`: answers from its table, writes down every request, lets requests of one group go
only together. usage: language_api.py PORT"""
import base64, json, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TABLE = json.load(open(__file__.rsplit("/", 1)[0] + "/language.json"))["api"]
lock = threading.Lock()
log, turns, groups = [], {}, {}
for answer in TABLE.values():
    if isinstance(answer, dict) and "together" in answer:
        groups[answer["together"]] = groups.get(answer["together"], 0) + 1
barriers = {name: threading.Barrier(count) for name, count in groups.items()}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value.replace("UPSTREAM", "http://" + self.headers["Host"]))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/log":
            with lock:
                seen = json.dumps(log).encode()
                log.clear()
                turns.clear()
            return self.send(200, seen, {"Content-Type": "application/json"})
        key = f"{self.command} {self.path}"
        with lock:
            log.append([key, json.loads(body)] if body else key)
            # With this very body, else with any.
            named = f"{key} {body.decode()}"
            key = named if named in TABLE else key
            answer = TABLE.get(key, {"status": 599, "json": {"unexpected": named}})
            if isinstance(answer, list):
                # One after another; the last one stays.
                turn = turns.get(key, 0)
                turns[key] = turn + 1
                answer = answer[min(turn, len(answer) - 1)]
        try:
            if "together" in answer:
                barriers[answer["together"]].wait(20)
        except threading.BrokenBarrierError:
            return self.send(500, b'{"message": "not together"}', {"Content-Type": "application/json"})
        if "base64" in answer:
            data, kind = base64.b64decode(answer["base64"]), "image/png"
        else:
            text = json.dumps(answer.get("json", {}), separators=(",", ":"), ensure_ascii=False)
            data, kind = text.replace("UPSTREAM", "http://" + self.headers["Host"]).encode(), "application/json"
        self.send(answer.get("status", 200), data, {"Content-Type": kind, **answer.get("headers", {})})

    do_GET = do_POST = do_DELETE = answer


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
