"""What the corpus checks share: the manifest, the explained exceptions, running the binary within bounds, counting."""

import contextlib
import csv
import json
import os
import re
import resource
import select
import subprocess
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
SHARED = Path(os.environ.get("REST_MCP_SHARED") or TOP.parent / "shared").resolve()
CORPUS = SHARED / "corpus"
BINARY = os.environ.get("REST_MCP_BIN") or str(TOP / "target/release/rest-mcp")
# Documents whose parts lie outside their folder, and where.
ALLOWED = {"multifile/camara-qod/API_definitions/quality-on-demand.yaml": ["../common"]}
SECONDS = 60
MEMORY = 2 << 30


def manifest():
    """One dict a root document: `file`, `kind`, `operations`, `openapi_version`, …"""
    with open(CORPUS / "MANIFEST.tsv", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def explained(check):
    """The rows of `explained.tsv` for one check, as `{(file, what): (value, reason)}`."""
    found = {}
    for line in (HERE / "explained.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, file, what, value, reason = line.split("\t")
            if name == check:
                found[file, what] = (value, reason)
    return found


def bounded():
    """Limits of the child process: memory by address space, CPU by time."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(*arguments, env=None, usage=None):
    """Runs the binary; `(exit code, stdout, stderr)`. A time-out is code -9. `usage` takes the processor seconds and the most MB it held."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([BINARY, *arguments], stdout=out, stderr=err, preexec_fn=bounded, env=env, stdin=subprocess.DEVNULL)
        late = threading.Timer(SECONDS * 5, process.kill)
        late.start()
        _, status, spent = os.wait4(process.pid, 0)
        late.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if usage is not None:
            usage["seconds"], usage["megabytes"] = spent.ru_utime + spent.ru_stime, spent.ru_maxrss / 1024
        out.seek(0)
        err.seek(0)
        return process.returncode, out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")


@contextlib.contextmanager
def served(row):
    """The file to give to the binary: the document, or a mapping that allows what it refers to outside its folder."""
    file = CORPUS / row["file"]
    allowed = ALLOWED.get(row["file"])
    if not allowed:
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        mapping = Path(folder) / "mapping.yaml"
        entries = ", ".join(json.dumps(str((file.parent / it).resolve())) for it in allowed)
        mapping.write_text(f"version: 1\nsources:\n  api:\n    spec: {file}\n    allow_refs: [{entries}]\n", encoding="utf-8")
        yield mapping


def credentials(path):
    """The environment with a value for every variable that the document's credentials want."""
    code, out, err = run("inspect", str(path), "--base-url", "http://127.0.0.1:9")
    if code not in (0, 1):
        raise RuntimeError(f"inspect ends with {code}: {err[-200:]}")
    env = dict(os.environ)
    for wanted in re.findall(r"\(missing: set ([^)]*)\)", out):
        for name in re.findall(r"[A-Z][A-Z0-9_]*", wanted):
            env[name] = "secret"
    return env


class Late(Exception):
    """A tool took too long."""


def used(pid):
    """Processor seconds of a process so far, and its state; what else the machine does is not counted."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0]


def wait(process, stream, seconds, idle=None):
    """Waits until a stream has something; raises `Late` after so many processor seconds of the process, or where it slept at `idle` looks in a row."""
    before, slept = used(process.pid)[0], 0
    while not select.select([stream], [], [], 0.5)[0]:
        now, state = used(process.pid)
        slept = slept + 1 if state in "SZ" else 0
        if now - before > seconds or slept == idle:
            raise Late


class Server:
    """`rest-mcp serve FILE --stdio`, spoken to in plain JSON-RPC lines of MCP 2025-11-25."""

    def __init__(self, path, base_url, env=None):
        self.process = subprocess.Popen([BINARY, "serve", str(path), "--stdio", "--base-url", base_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        self.last = 0
        answer = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "corpus", "version": "1"}})
        self.usable = answer is not None and "result" in answer
        if self.usable:
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        """The answer to one request, or None where the server is gone."""
        self.last += 1
        try:
            self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
            for line in self.process.stdout:
                message = json.loads(line)
                if message.get("id") == self.last and "method" not in message:
                    return message
        except (BrokenPipeError, ValueError):
            pass
        return None

    def tools(self):
        """All tools, over all pages."""
        tools, params = [], {}
        while True:
            answer = self.ask("tools/list", params)
            if not answer or "result" not in answer:
                return tools
            tools += answer["result"]["tools"]
            if not answer["result"].get("nextCursor"):
                return tools
            params = {"cursor": answer["result"]["nextCursor"]}

    def close(self):
        """Ends the process that this object started."""
        try:
            self.process.stdin.close()
            self.process.wait(timeout=5)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Tally:
    """Counts of checks; a failure is printed with its place."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, text):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {text}", flush=True)
        return good
