"""The Inspector's command line, and the story through the `mcp-remote` bridge. usage: bridge.py NODE NPM_FOLDER"""
import asyncio, json, os, pathlib, subprocess, sys, tempfile
sys.path.insert(0, __file__.rsplit("/", 1)[0])
from common import BIN, Checks
from story import PIXEL, TEXT, backend
from story_py2 import session
from mcp import StdioServerParameters

NODE, PACKAGES = sys.argv[1:3]
INSPECTOR = f"{PACKAGES}/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
REMOTE = f"{PACKAGES}/node_modules/mcp-remote/dist/proxy.js"


def inspector(home, *arguments):
    """Exit code, standard output and error."""
    run = subprocess.run([NODE, INSPECTOR, "--cli", *arguments], capture_output=True, text=True, env={**os.environ, **ENVIRONMENT, "HOME": home}, timeout=60)
    return run.returncode, run.stdout, run.stderr


ENVIRONMENT = {}


def texts(out):
    answer = json.loads(out)
    return [one["text"] for one in answer.get("result", answer)["content"]]


def inspect(home, rest, port):
    url = f"http://127.0.0.1:{port}/mcp"
    ENVIRONMENT.update({name: value for name, value in rest.environment.items() if os.environ.get(name) != value})
    variables = [part for name, value in ENVIRONMENT.items() for part in ("-e", f"{name}={value}")]
    stdio = [*variables, BIN, *rest.stdio]
    # HTTP+SSE ends with 2025-11-25.
    ways = [(era, label, target) for label, target in [("http", [url]), ("stdio", stdio)] for era in ["legacy", "modern"]]
    for era, label, target in [*ways, ("legacy", "sse", [f"http://127.0.0.1:{port}/sse", "--transport", "sse"])]:
        checks = Checks(f"inspector {era} {label}")
        code, out, errors = inspector(home, *target, "--protocol-era", era, "--method", "tools/list", "--strict")
        checks.same("the strict lint finds no error", 0 if code == 0 else out[-2000:] + errors[-2000:], 0)
        code, out, errors = inspector(home, *target, "--protocol-era", era, "--method", "tools/call", "--tool-name", "echo", "--tool-args-json", json.dumps({"text": TEXT}), "--format", "json")
        checks.same("text is exact", texts(out) if code == 0 else errors, [TEXT])
        file = f"{home}/{era}-{label}.png"
        code, _, errors = inspector(home, *target, "--protocol-era", era, "--method", "tools/call", "--tool-name", "pixel", "--output", file, "--output-format", "raw")
        checks.same("image bytes are exact", pathlib.Path(file).read_bytes() if code == 0 else errors, PIXEL)
        code, _, _ = inspector(home, *target, "--protocol-era", era, "--method", "tools/call", "--tool-name", "no_such_tool")
        checks.same("an unknown tool is an error", code != 0, True)
    checks = Checks("inspector load")
    code, out, errors = inspector(home, url, "--protocol-era", "modern", "--method", "tools/call", "--tool-name", "echo", "--tool-args-json", '{"text":"x"}', "--load", "--load-requests", "40", "--load-concurrency", "4")
    checks.same("40 calls", 0 if code == 0 else out[-500:] + errors[-500:], 0)


async def main():
    with tempfile.TemporaryDirectory() as home, backend() as rest, rest.served() as port:
        inspect(home, rest, port)
        for label, url, transport in [("http", f"http://127.0.0.1:{port}/mcp", "http-only"), ("sse", f"http://127.0.0.1:{port}/sse", "sse-only")]:
            target = StdioServerParameters(command=NODE, args=[REMOTE, url, "--allow-http", "--silent", "--transport", transport], env={**os.environ, "HOME": home})
            for mode in ["legacy", "auto"]:
                # In 2026-07-28 closing the response stream cancels; this bridge sends a notification instead, which means nothing there.
                stops = (label, mode) != ("http", "auto")
                await session(target, f"mcp-remote {label}", rest, mode, stops)
    Checks("bridge").done()


asyncio.run(main())
