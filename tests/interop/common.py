"""What every Python interop script does: start the server, compare exactly, count."""
import contextlib, os, socket, subprocess, sys, time

BIN = os.environ["REST_MCP_BIN"]
SERVE = ["serve", "--mock"]

PETS = '[{"id":7,"name":"Rex","status":"available","tags":["dog"]},{"id":8,"name":"Mia","status":"sold","tags":["cat","quiet"]}]'
REX = {"id": 7, "name": "Rex", "status": "available", "tags": ["dog"]}
TOM = {"id": 9, "name": "Tom", "status": "available", "tags": ["cat"]}
TOOLS = ["find_pets", "addPet", "get_pet", "deletePet", "getPhoto", "getInventory"]


class Checks:
    def __init__(self, label):
        self.label = label

    def same(self, what, got, wanted):
        if got == wanted:
            print(f"ok {self.label} {what}", flush=True)
        else:
            print(f"FAIL {self.label} {what}: got {got!r}, wanted {wanted!r}", flush=True)

    def true(self, what, got, shown=None):
        self.same(what, bool(got), True) if got else print(f"FAIL {self.label} {what}: {shown!r}", flush=True)

    def done(self):
        print(f"done {self.label}", flush=True)


@contextlib.contextmanager
def http_server():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([BIN, *SERVE, "--listen", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
    try:
        for _ in range(400):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            time.sleep(0.025)
        yield port
    finally:
        server.terminate()
        server.wait()
