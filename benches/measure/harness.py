"""Processes, load and clients for benches/measure/run. Loopback only; ends only what it started."""
import http.client, json, os, re, signal, socket, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.abspath(os.environ.get("REST_MCP_BIN") or os.path.join(HERE, "../../target/release/rest-mcp"))
TICK = os.sysconf("SC_CLK_TCK")
SERVER_CORE, OTHER_CORE = os.environ.get("SERVER_CORE", "0"), os.environ.get("OTHER_CORE", "1")
LEGACY, MODERN = "2025-11-25", "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientInfo": {"name": "measure", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A child on one core (or several: `0,1`)."""

    def __init__(self, command, core, folder, env=None, stdio=False):
        self.log = open(os.path.join(folder, "log.txt"), "ab")
        pipe = subprocess.PIPE if stdio else None
        self.began = time.perf_counter()
        self.child = subprocess.Popen(["taskset", "-c", core, *command], env=dict(os.environ, **(env or {})), cwd=folder, bufsize=0,
                                      stdin=pipe or subprocess.DEVNULL, stdout=pipe or self.log, stderr=self.log)
        self.pid = self.child.pid

    def cpu(self):
        """Processor seconds so far, from the scheduler's own account where the kernel gives one."""
        try:
            return sum(int(open(f"/proc/{self.pid}/task/{task}/schedstat").read().split()[0]) for task in os.listdir(f"/proc/{self.pid}/task")) / 1e9
        except (OSError, IndexError, ValueError):
            fields = open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self):
        """Resident kB, and the anonymous part of it."""
        text = open(f"/proc/{self.pid}/status").read()
        return tuple(int(re.search(rf"{name}:\s+(\d+)", text).group(1)) for name in ("VmRSS", "RssAnon"))

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(10)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait(10)
        self.log.close()


class Api:
    """The API behind everything: nginx, one process. `count` is what it has answered so far."""

    def __init__(self, folder, core=OTHER_CORE):
        self.port = free_port()
        self.process = nginx(folder, "api", core, f"""
          types {{ application/json json; }}
          server {{ listen 127.0.0.1:{self.port} backlog=4096;
            location = /stub {{ stub_status; }}
            location ~ "^/pets/([0-9]+)$" {{ return 200 '{{"id":$1,{PET}}}'; }}
            location = /pets {{ return 201 '{{"id":77,{PET}}}'; }}
            location = /mcp {{ return 200 '{CANNED}'; }}
            location = /big {{ alias {folder}/big.json; }}
            location = /list.json {{ alias {folder}/list.json; }}
            location / {{ return 200 '{{"ok":true}}'; }}
          }}""")
        wait_for(self.port, self.process)

    def count(self):
        return int(get(self.port, "/stub").split()[9])


PET = ('"name":"Rex the dog number one","tag":"dog","status":"available","owner":{"name":"Ada Lovelace","email":"ada@example.org"},'
       '"vaccinated":true,"weightKg":12.75')
# What an MCP server would answer to a call, as text only: for the same request through the bare proxy.
CANNED = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": '{"id":7,' + PET + "}"}], "isError": False}},
                    separators=(",", ":")).replace("\\", "\\\\")


def nginx(folder, name, core, http_block):
    own = os.path.join(folder, name)
    os.makedirs(own, exist_ok=True)
    temporary = " ".join(f"{kind}_temp_path {own}/tmp;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(f"{own}/nginx.conf", "w") as file:
        file.write(f"""daemon off; master_process off; pid {own}/pid; error_log {own}/error.log warn;
          events {{ worker_connections 4096; use epoll; }}
          http {{ access_log off; default_type application/json; tcp_nodelay on; sendfile on; {temporary}
            keepalive_requests 2000000000; keepalive_timeout 3600s; keepalive_time 24h;
            open_file_cache max=16 inactive=24h; open_file_cache_valid 24h; open_file_cache_min_uses 1;
            {http_block} }}""")
    return Process(["nginx", "-p", own, "-c", f"{own}/nginx.conf"], core, folder)


class Proxy:
    """The reference: nginx as a bare reverse proxy in front of the API."""

    def __init__(self, folder, api):
        self.port = free_port()
        self.process = nginx(folder, "proxy", SERVER_CORE, f"""
          upstream api {{ server 127.0.0.1:{api.port}; keepalive 256; keepalive_requests 2000000000; keepalive_timeout 3600s; keepalive_time 24h; }}
          server {{ listen 127.0.0.1:{self.port} backlog=4096;
            location / {{ proxy_pass http://api; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffers 16 64k; proxy_buffer_size 16k; }}
          }}""")
        wait_for(self.port, self.process)


class Server:
    """rest-mcp over HTTP. `inputs`: files or `--config FILE`."""

    def __init__(self, folder, inputs, base_url=None, core=SERVER_CORE, env=None, headers=None):
        self.port = free_port()
        command = [BINARY, "serve", *inputs, "--listen", f"127.0.0.1:{self.port}"]
        if base_url:
            command += ["--base-url", base_url]
        workers = {"TOKIO_WORKER_THREADS": str(core.count(",") + 1)}
        self.process = Process(command, core, folder, env=dict(workers, **(env or {})))
        self.extra, self.session = headers or {}, None
        wait_for(self.port, self.process)
        self.ready = time.perf_counter() - self.process.began

    def headers(self, version, method, name=None):
        found = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version, **self.extra}
        if version == MODERN:
            found["Mcp-Method"] = method
            if name:
                found["Mcp-Name"] = name
        elif self.session:
            found["Mcp-Session-Id"] = self.session
        return found

    def post(self, version, method, params=None, number=1):
        """One request on a connection of its own: (answer, bytes)."""
        params = dict(params or {}, **({"_meta": META} if version == MODERN else {}))
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        client.request("POST", "/mcp", json.dumps(message), self.headers(version, method, params.get("name")))
        answer = client.getresponse()
        text = answer.read()
        self.session = answer.headers.get("mcp-session-id") or self.session
        client.close()
        if number is None:
            return None, 0
        reply = json.loads(text)
        if "result" not in reply:
            sys.exit(f"{method}: {text[:400]!r}")
        return reply["result"], len(text)

    def hello(self):
        """The handshake of the older revisions."""
        self.session = None
        self.post(LEGACY, "initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "measure", "version": "1"}})
        self.post(LEGACY, "notifications/initialized", number=None)

    def target(self, version, method, params, need=None):
        """What `load` sends to this server."""
        if version == LEGACY and not self.session:
            self.hello()
        whole = dict(params, **({"_meta": META} if version == MODERN else {}))
        lines = {"Host": f"127.0.0.1:{self.port}", **self.headers(version, method, params.get("name"))}
        body = f',"method":"{method}","params":{json.dumps(whole, separators=(",", ":"))}}}'
        return Target(self.process, self.port, "POST /mcp HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items()),
                      '{"jsonrpc":"2.0","id":', body, need)

    def call(self, version, tool, arguments=None, need=None):
        return self.target(version, "tools/call", {"name": tool, "arguments": arguments or {}}, need)

    def logged(self, text):
        """How many lines of the log hold this text."""
        with open(self.process.log.name) as log:
            return sum(text in line for line in log)

    def stop(self):
        self.process.stop()


class Target:
    def __init__(self, process, port, head, prefix=None, suffix=None, need=None):
        self.process, self.port, self.head, self.prefix, self.suffix, self.need = process, port, head, prefix, suffix, need


def same(process, port, target, need=None):
    """The request of another target, sent to this port."""
    head = re.sub(r"Host: [^\r]*", f"Host: 127.0.0.1:{port}", target.head)
    return Target(process, port, head, target.prefix, target.suffix, need)


def plain(process, port, path, need=None):
    return Target(process, port, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n", need=need)


def wait_for(port, process):
    for _ in range(30000):
        if process.child.poll() is not None:
            sys.exit(f"{process.child.args} ended early: {open(process.log.name).read()[-600:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return
        except OSError:
            time.sleep(0.002)
    sys.exit("nothing listens")


def get(port, path):
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    client.request("GET", path)
    text = client.getresponse().read().decode()
    client.close()
    return text


def quoted(text):
    return '"' + "".join(c if c.isalnum() or c in " -_/:;.,{}[]()=*+" else "\\%03d" % ord(c) for c in text) + '"'


def together(folder, targets, connections, seconds):
    """Processor µs a call where several targets share the connections of one load."""
    found = []

    def run(number, target):
        own = os.path.join(folder, f"load-{number}")
        os.makedirs(own, exist_ok=True)
        found.append(load(own, target, connections // len(targets), seconds))
    threads = [threading.Thread(target=run, args=one) for one in enumerate(targets)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    if len(found) < len(targets):
        sys.exit("a load did not end")
    return sum(row["cpu"] * row["calls"] for row in found) / sum(row["calls"] for row in found)


def load(folder, target, connections, seconds, api=None, check=False, core=OTHER_CORE):
    """Runs wrk: calls, calls a second, processor µs a call, latencies in µs. With `check` every answer is looked into
    (which costs the load generator); the API's own count must equal the calls in any case."""
    config = os.path.join(folder, "wrk.lua")
    with open(config, "w") as file:
        fields = {"head": target.head, "prefix": target.prefix, "suffix": target.suffix, "need": target.need}
        file.write("return {" + ",".join(f"{k}={quoted(v)}" for k, v in fields.items() if v is not None) + (",check=true" if check else "") + "}\n")
    before, asked = target.process.cpu(), api.count() if api else 0
    out = subprocess.run(["taskset", "-c", core, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", os.path.join(HERE, "call.lua"),
                          f"http://127.0.0.1:{target.port}/", "--", config], capture_output=True, text=True, timeout=seconds + 60)
    cpu = target.process.cpu() - before
    row = re.search(r"ROW (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) ?(.*)", out.stdout)
    if not row:
        sys.exit(f"wrk: {out.stdout[-400:]} {out.stderr[-400:]}")
    calls, duration, p50, p99, longest, errors, bad = map(int, row.groups()[:7])
    if errors or bad:
        sys.exit(f"{errors} errors, {bad} wrong answers: {row.group(8)}")
    if not calls:
        sys.exit("no call was answered")
    worked = calls
    if api:
        # Calls that wrk cut off at its end did their work too; this look counts itself.
        worked = api.count() - asked - 1
        if not calls <= worked <= calls + 2 * connections + 8:
            sys.exit(f"{calls} calls made {worked} requests")
    return {"calls": calls, "rate": calls / (duration / 1e6), "cpu": cpu * 1e6 / worked, "p50": p50, "p99": p99, "max": longest,
            "used": cpu / (duration / 1e6)}


def stdio_start(folder, inputs, base_url, version=LEGACY):
    """Seconds from start to the first `tools/list` over stdio: (wall, processor, bytes of the list, resident kB)."""
    process = Process([BINARY, "serve", *inputs, "--stdio", "--base-url", base_url], SERVER_CORE, folder, stdio=True)
    write = lambda message: process.child.stdin.write(json.dumps(message).encode() + b"\n")
    read = os.fdopen(os.dup(process.child.stdout.fileno()), "rb", buffering=1 << 20)
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "measure", "version": "1"}}
    write({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    read.readline()
    write({"jsonrpc": "2.0", "method": "notifications/initialized"})
    write({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    line = read.readline()
    wall, cpu = time.perf_counter() - process.began, process.cpu()
    memory = process.memory()[0]
    if b'"tools":' not in line:
        sys.exit(f"no list: {line[:300]!r}")
    process.stop()
    return wall, cpu, len(line), memory


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
