#!/usr/bin/env python3
"""Growth curves: what a start and a call cost as the document, the answer and the number of clients grow.

    benches/growth.py [--picture benches/growth.png]     needs matplotlib for the picture only

Runs the release binary (REST_MCP_BIN, default target/release/rest-mcp) on loopback. Times are processor time of the server
process, which other work on the machine moves least.
"""
import http.client, json, os, signal, socket, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
BINARY = os.environ.get("REST_MCP_BIN") or os.path.join(HERE, "../target/release/rest-mcp")


class Api(threading.Thread):
    """Answers GET /items/N with N bytes of JSON, on kept connections."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, client):
        answers, data = {}, b""
        while True:
            while b"\r\n\r\n" not in data:
                more = client.recv(65536)
                if not more:
                    return
                data += more
            head, data = data.split(b"\r\n\r\n", 1)
            size = int(head.split(b" ")[1].rsplit(b"/", 1)[1])
            if size not in answers:
                item = {"id": 1, "name": "Rex", "tag": "dog"}
                body = json.dumps([item] * max(1, size // 40)).encode()
                answers[size] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
            client.sendall(answers[size])


def description(operations):
    item = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "tag": {"type": "string"}}}
    answer = {"200": {"description": "Items", "content": {"application/json": {"schema": {"type": "array", "items": item}}}}}
    parameter = {"name": "size", "in": "path", "required": True, "schema": {"type": "integer"}}
    paths = {f"/{n}/items/{{size}}": {"get": {"operationId": f"items{n}", "parameters": [parameter], "responses": answer}} for n in range(operations)}
    return {"openapi": "3.1.0", "info": {"title": "Items", "version": "1"}, "paths": paths}


def mapping(tools, document):
    """A mapping that makes so many tools, with an argument of their own, out of the operations of one document."""
    rules = {f"tool{n}": {"operation": f"items{n % 10}", "description": f"Tool number {n}", "args": {"size": {"description": "Bytes"}}} for n in range(tools)}
    return {"version": 1, "sources": {"items": {"spec": document}}, "tools": rules}


class Server:
    """Serves a document of so many operations, or, with `tools`, a mapping of so many tools over one of ten."""

    def __init__(self, api, operations, tools=None):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump(description(operations), self.file)
        self.file.flush()
        served = self.file.name
        if tools:
            self.mapping = tempfile.NamedTemporaryFile("w", suffix=".yaml")
            json.dump(mapping(tools, self.file.name), self.mapping)
            self.mapping.flush()
            served = self.mapping.name
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        base = f"http://127.0.0.1:{api.port}"
        command = [BINARY, "serve", served, "--base-url", base, "--listen", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                self.client().close()
                return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit("the server ended early")
                time.sleep(0.02)

    def client(self):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        client.connect()
        client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def cpu(self):
        """Processor seconds of the threads that run now, to the nanosecond."""
        tasks = f"/proc/{self.process.pid}/task"
        return sum(int(open(f"{tasks}/{task}/schedstat").read().split()[0]) for task in os.listdir(tasks)) / 1e9

    def stop(self):
        """Processor seconds of its whole life, with threads that ended before."""
        self.process.send_signal(signal.SIGTERM)
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime


META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def post(client, method, params):
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    client.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params, _meta=META)}), headers)
    answer = client.getresponse().read()
    if b'"result":' not in answer or b'"isError":true' in answer:
        sys.exit(f"wrong answer: {answer[:300]!r}")
    return answer


def call(client, tool, size):
    return post(client, "tools/call", {"name": tool, "arguments": {"size": size}})


def start(api, operations, tools=None):
    """Milliseconds of processor time for a start, the first list and an end: the median of five."""
    times = []
    for _ in range(5):
        server = Server(api, operations, tools)
        post(server.client(), "tools/list", {})
        times.append(server.stop() * 1e3)
    return sorted(times)[2]


def cpu_of(server, work):
    """Processor seconds of the server for `work`, which says how many calls it made."""
    before = server.cpu()
    calls = work()
    return (server.cpu() - before) / calls


def main():
    api = Api()
    api.start()
    curves = {"start: ms by operations": [], "call: µs by operations": [], "call: µs by bytes of the answer": [], "call: µs by connections": [],
              "start: ms by tools in one mapping": [], "call: µs by tools in one mapping": []}
    for operations in (10, 100, 1000, 10000):
        server = Server(api, operations)
        client = server.client()
        post(client, "tools/list", {})
        curves["start: ms by operations"].append((operations, start(api, operations)))
        name = f"items{operations - 1}"
        curves["call: µs by operations"].append((operations, cpu_of(server, lambda: sum(bool(call(client, name, 100)) for _ in range(1000))) * 1e6))
        server.stop()
    for tools in (10, 100, 1000, 10000):
        server = Server(api, 10, tools)
        client = server.client()
        post(client, "tools/list", {})
        curves["start: ms by tools in one mapping"].append((tools, start(api, 10, tools)))
        name = f"tool{tools - 1}"
        curves["call: µs by tools in one mapping"].append((tools, cpu_of(server, lambda: sum(bool(call(client, name, 100)) for _ in range(1000))) * 1e6))
        server.stop()
    server = Server(api, 10)
    client = server.client()
    for size in (1000, 10_000, 100_000, 1_000_000, 10_000_000):
        calls = max(5, min(1000, 20_000_000 // size))
        curves["call: µs by bytes of the answer"].append((size, cpu_of(server, lambda: sum(bool(call(client, "items0", size)) for _ in range(calls))) * 1e6))
    for connections in (1, 4, 16, 64, 256, 1024):
        clients = [server.client() for _ in range(connections)]

        def turn(mine, calls):
            for n in range(calls):
                call(mine[n % len(mine)], "items0", 100)

        def all_turns():
            workers = min(16, connections)
            threads = [threading.Thread(target=turn, args=(clients[n::workers], 2048 // workers)) for n in range(workers)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            return 2048 // workers * workers

        curves["call: µs by connections"].append((connections, cpu_of(server, all_turns) * 1e6))
        [each.close() for each in clients]
    server.stop()
    for name, points in curves.items():
        print(f"{name}: " + ", ".join(f"{x:,} {y:,.1f}" for x, y in points))
    if "--picture" in sys.argv:
        picture(curves, sys.argv[sys.argv.index("--picture") + 1])


def picture(curves, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(2, 3, figsize=(14, 7))
    for axis, (name, points) in zip(axes.flat, curves.items()):
        axis.loglog([x for x, _ in points], [y for _, y in points], marker="o")
        axis.set_title(name)
        # The same decades up and down in all pictures of a kind: noise must not look like growth.
        axis.set_ylim(min(y for _, y in points) / 3, max(max(y for _, y in points) * 3, min(y for _, y in points) * 30))
        axis.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


main()
