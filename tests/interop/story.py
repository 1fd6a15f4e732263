"""The story that every Python client drives against `story.yaml` and `backend.py`: exact texts and bytes, progress,
questions to the person, cancellation. A client is an object with `call`, `read`, `prompt` and `abandon`."""
import asyncio, base64, contextlib, json, os, socket, subprocess, sys, time, urllib.request
from common import BIN, Checks

HERE = __file__.rsplit("/", 1)[0]
TEXT = 'na\u00efve \u2602 "quoted" back\\slash\ntwo\tlines & <tags> \U0001f701 100% +'
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command, port, **options):
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
    try:
        for _ in range(400):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            time.sleep(0.025)
        yield port
    finally:
        process.terminate()
        process.wait()


class Backend:
    """The REST API and what it counted."""

    def __init__(self, port):
        self.port = port
        self.environment = {**os.environ, "INTEROP_BACKEND": f"http://127.0.0.1:{port}"}
        self.stdio = ["serve", f"{HERE}/story.yaml", "--stdio"]

    def counts(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/counts", timeout=10) as answer:
            return json.load(answer)

    async def until(self, name, wanted, seconds=10.0):
        """True once a count has reached a number."""
        for _ in range(int(seconds / 0.02)):
            if self.counts()[name] >= wanted:
                return True
            await asyncio.sleep(0.02)
        return False

    def served(self):
        port = free_port()
        return running([BIN, "serve", f"{HERE}/story.yaml", "--listen", f"127.0.0.1:{port}"], port, env=self.environment)


@contextlib.contextmanager
def backend():
    with running([sys.executable, f"{HERE}/backend.py", str(port := free_port())], port):
        yield Backend(port)


class Person:
    """Answers what is asked; remembers the questions."""

    def __init__(self):
        self.asked, self.action, self.content = [], "accept", None

    def says(self, action, content=None):
        self.asked.clear()
        self.action, self.content = action, content


async def story(label, backend, client, person, can_ask, stops=True):
    checks = Checks(label)
    checks.same("text is exact", await client.call("echo", {"text": TEXT}), (False, [("text", TEXT)]))
    checks.same("image bytes are exact", await client.call("pixel", {}), (False, [("image/png", PIXEL)]))
    checks.same("resource bytes are exact", await client.read("story://pixel"), [("image/png", PIXEL)])
    checks.same("resource template", await client.read("story://echo/a%20b%26c"), [("text/plain", "a b&c")])
    checks.same("prompt", await client.prompt("greet", {"name": "Ann & Bo"}), ["Greet Ann & Bo."])
    steps = []
    result = await client.call("count", {"to": 5}, steps)
    checks.same("progress of a stream", steps, [(n, 5) for n in range(1, 6)])
    checks.same("result of a stream", (result[0], json.loads(result[1][0][1])), (False, {"sum": 15}))
    steps = []
    result = await client.call("job", {"name": "long"}, steps)
    checks.same("progress of a job", steps, [(0, 1), (0.5, 1), (1, 1)])
    done = json.loads(result[1][0][1])
    checks.same("result of a job", (result[0], done["name"], done["state"]), (False, "long", "done"))

    before = backend.counts()
    if can_ask:
        person.says("accept", {"email": "ann@example.org"})
        result = await client.call("order", {"item": "book"})
        checks.same("accepted form", json.loads(result[1][0][1]), {"placed": {"item": "book", "email": "ann@example.org"}})
        checks.same("the question", person.asked, ["Who gets book?"])
        person.says("decline")
        result = await client.call("order", {"item": "book"})
        checks.same("declined form", result[1], [("text", "Not done: the person declined to answer.")])
        checks.same("one order was placed", backend.counts()["ordered"] - before["ordered"], 1)
        person.says("decline")
        result = await client.call("delete_thing", {"id": 3})
        checks.same("declined confirmation", result[1], [("text", "Not done: the person declined.")])
        person.says("accept", {})
        result = await client.call("delete_thing", {"id": 3})
        checks.same("accepted confirmation", result, (False, [("text", "OK (204 No Content)")]))
        checks.same("the confirmation", person.asked, ["Delete thing 3?"])
    else:
        result = await client.call("delete_thing", {"id": 3})
        checks.true("not confirmed", result[1][0][1].startswith("Not done yet: Delete thing 3?"), result)
        checks.same("nothing was deleted", backend.counts()["deleted"], before["deleted"])
        result = await client.call("delete_thing", {"id": 3, "confirm": True})
        checks.same("confirmed by argument", result, (False, [("text", "OK (204 No Content)")]))
    checks.same("one was deleted", backend.counts()["deleted"] - before["deleted"], 1)

    await client.abandon("slow", {}, lambda: backend.until("slow_started", before["slow_started"] + 1))
    if stops:
        checks.same("a cancelled call stops upstream", await backend.until("slow_gone", before["slow_gone"] + 1), True)
    checks.same("works after a cancellation", await client.call("echo", {"text": "still here"}), (False, [("text", "still here")]))
