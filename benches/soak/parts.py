"""What the soak and the check of replicas are made of: a backend that counts, replicas of the server, nginx in front."""
import collections, contextlib, hashlib, http.server, json, os, pathlib, shutil, signal, socket, socketserver, subprocess
import sys, threading, time

TOP = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("REST_MCP_BIN", str(TOP / "target/release/rest-mcp"))
REVISION = "2026-07-28"
KEY = "soak-key"
STATE_KEY = "soak-soak-soak-soak-soak-soak-soak"
FAULTS = {0: "reset", 1: "503", 2: "slow", 3: "half"}
TOOLS = ["put_thing", "get_thing", "put_thing", "put_shaky", "put_thing", "get_thing", "put_thing", "order"]
ROUTES = {"put_thing": "things", "get_thing": "things", "put_shaky": "shaky", "order": "orders"}


def plan(number):
    """The tool that a call of this number uses and what the backend does with it; so both sides know."""
    return TOOLS[number % len(TOOLS)], FAULTS.get(number // len(TOOLS) % 53)


def is_error(number):
    """True if the call must end in an error, False if it must not, None if both may be: what is safe to repeat is
    repeated, and the shaky backend is away at times."""
    tool, fault = plan(number)
    if tool == "get_thing":
        return False
    if tool == "put_shaky":
        return None
    return fault in ("reset", "503", "half")


def sent(number):
    """How many requests an answered call may have cost: least and most."""
    tool, fault = plan(number)
    if tool == "get_thing":
        return (2, 2) if fault in ("reset", "503", "half") else (1, 1)
    return (1, 1)


def payload(number):
    return {"number": number, "text": "x" * (number % 500)}


def arguments(number):
    return {"number": number}


class Backend(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Counts the requests of each number. `away` makes it refuse everything, as if it had been killed."""

    daemon_threads = True
    request_queue_size = 256
    allow_reuse_address = True

    def __init__(self, seen, port=0):
        self.seen, self.lock, self.away, self.open = seen, threading.Lock(), False, set()
        super().__init__(("127.0.0.1", port), Handler)
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, *_):
        pass

    def stop(self):
        self.away = True
        self.shutdown()
        self.server_close()
        with self.lock:
            for link in self.open:
                with contextlib.suppress(OSError):
                    link.shutdown(socket.SHUT_RDWR)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        self.answer(json.loads(self.rfile.read(int(self.headers["content-length"])))["number"])

    def do_GET(self):
        self.answer(int(self.path.rsplit("/", 1)[1]))

    def answer(self, number):
        with self.server.lock:
            if self.server.away:
                return self.reset()
            self.server.seen[number] += 1
            first = self.server.seen[number] == 1
        fault = plan(number)[1] if first else None
        if fault == "reset":
            return self.reset()
        if fault == "slow":
            time.sleep(0.3)
        answer = json.dumps(payload(number)).encode()
        self.send_response(503 if fault == "503" else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer[:10] if fault == "half" else answer)
        if fault == "half":
            self.close_connection = True

    def reset(self):
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.connection.close()

    def handle(self):
        with self.server.lock:
            self.server.open.add(self.connection)
        try:
            super().handle()
        except (OSError, ValueError):
            pass
        finally:
            with self.server.lock:
                self.server.open.discard(self.connection)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write(path, text):
    """Replaces a file whole, as an editor does."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text)
    beside.replace(path)


def mapping(steady, shaky, turn=0, more=""):
    limits = "limits: { concurrency: 256, timeout: 30s, connect_timeout: 10s }"
    return f"""version: 1
sources:
  soak: {{ spec: api.yaml, base_url: "http://127.0.0.1:{steady}", {limits} }}
  shaky: {{ spec: shaky.yaml, base_url: "http://127.0.0.1:{shaky}", {limits} }}
tools:
  put_thing: {{ operation: put_thing, description: "Stores a thing, turn {turn}." }}
  order:
    operation: order
    ask: {{ user: {{ kind: elicit, message: "Who gets it?", schema: {{ type: object, required: [name], properties: {{ name: {{ type: string }} }} }}, into: name }} }}
{more}"""


def document(paths):
    return 'openapi: 3.1.0\ninfo: { title: soak, version: "1" }\nservers: [{ url: "http://127.0.0.1:1" }]\npaths:\n' + paths


def operation(path, name, method="post", properties="number: { type: integer }", required="number"):
    body = "requestBody: { required: true, content: { application/json: { schema: { type: object, required: [%s], properties: { %s } } } } }" % (required, properties)
    if method == "get":
        body = "parameters: [{ name: number, in: path, required: true, schema: { type: integer } }]"
    answer = 'responses: { "200": { description: ok, content: { application/json: { schema: { type: object } } } } }'
    return f"  {path}:\n    {method}: {{ operationId: {name}, summary: About {name}, {body}, {answer} }}\n"


API = document(
    operation("/things", "put_thing") + operation("/things/{number}", "get_thing", "get")
    + operation("/orders", "order", properties="number: { type: integer }, name: { type: string }", required="number, name")
)
SHAKY = document(operation("/shaky", "put_shaky"))


def settings(port):
    digest = hashlib.sha256(KEY.encode()).hexdigest()
    return f"""version: 1
mappings: [mapping.yaml]
listen: 127.0.0.1:{port}
legacy_sessions: {{ enabled: false }}
state_key: ${{env:SOAK_STATE_KEY}}
access: {{ api_keys: [{{ name: soak, key_hash: "sha256:{digest}", tenant: t }}], tenants: {{ t: {{}} }} }}
audit: {{ to: audit.jsonl, rotate: {{ max_size: 10MiB, keep: 1 }} }}
telemetry: {{ metrics: /metrics }}
"""


class Replica:
    def __init__(self, folder, text):
        self.folder, self.port = folder, free_port()
        folder.mkdir()
        (folder / "api.yaml").write_text(API)
        (folder / "shaky.yaml").write_text(SHAKY)
        (folder / "mapping.yaml").write_text(text)
        (folder / "rest-mcp.yaml").write_text(settings(self.port))
        self.log = open(folder / "stderr.txt", "wb")
        self.start()

    def start(self):
        command = [BINARY, "serve", "--config", "rest-mcp.yaml"]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=self.log,
                                        env={**os.environ, "SOAK_STATE_KEY": STATE_KEY})
        if not reachable(self.port) or "warning[" in self.said():
            sys.exit(f"the server did not start: {self.said()}")

    def said(self):
        return (self.folder / "stderr.txt").read_text()

    def measure(self):
        """Resident memory in MiB and the number of open file descriptors."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        return rss / 1024, len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        """Ends it as an orchestrator does; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(40)


def reachable(port):
    for _ in range(600):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 0.1).close()
            return True
        time.sleep(0.05)
    return False


def nginx(folder, replicas, second="off"):
    """Round robin without stickiness: the port and the process. `second` says when nginx may ask the other replica
    (`proxy_next_upstream`); a request that may have been begun never is."""
    if not shutil.which("nginx"):
        sys.exit("nginx is not installed")
    port = free_port()
    servers = "".join(f"server 127.0.0.1:{replica.port} max_fails=0;" for replica in replicas)
    (folder / "nginx.conf").write_text(f"""
daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.err; worker_processes 1;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream replicas {{ {servers} keepalive 64; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://replicas; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_buffering off; proxy_read_timeout 1h;
      proxy_next_upstream {second};
      add_header x-replica $upstream_addr always;
    }}
  }}
}}
""")
    process = subprocess.Popen(["nginx", "-e", f"{folder}/nginx.err", "-c", f"{folder}/nginx.conf"])
    if not reachable(port):
        sys.exit("nginx did not start")
    return port, process


def official_client():
    """The interpreter of the virtual environment with the official client, which is made if it is not there."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rest-mcp-tests"
    folder = pathlib.Path(os.environ.get("REST_MCP_TOOLS") or cache) / "py2"
    if not (folder / ".done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", "mcp[cli]==2.3.0"], check=True)
        (folder / ".done").touch()
    return folder / "bin/python"


def headers(method, name=None):
    found = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "x-api-key": KEY,
        "mcp-protocol-version": REVISION,
        "mcp-method": method,
    }
    return {**found, "mcp-name": name} if name else found


def message(number, method, **params):
    """A request of revision 2026-07-28."""
    capabilities = {"elicitation": {}}
    meta = {"io.modelcontextprotocol/protocolVersion": REVISION, "io.modelcontextprotocol/clientCapabilities": capabilities}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}})


class Tally:
    """What became of each call, by number."""

    def __init__(self):
        self.lock, self.next = threading.Lock(), 0
        self.answered, self.failed, self.wrong, self.unanswered, self.dropped = [], [], [], [], []
        self.times = []

    def number(self):
        with self.lock:
            self.next += 1
            return self.next

    def judge(self, number, failed, value, shown):
        """An answer came: an error, or a value."""
        expected = is_error(number)
        if expected is not None and failed != expected or not failed and value != payload(number):
            self.wrong.append((number, plan(number), shown[:300]))
        else:
            (self.failed if failed else self.answered).append(number)

    def add(self, lists):
        for name, values in lists.items():
            getattr(self, name).extend(values)

    def against(self, seen):
        """Lost and doubled calls, by what the backend counted."""
        lost = [number for number in self.answered if seen[number] < sent(number)[0]]
        lost += [number for number in self.failed if seen[number] == 0 and plan(number)[0] != "put_shaky"]
        doubled = [number for number, count in seen.items() if count > sent(number)[1]]
        return lost, doubled
