"""Two applications that nobody here wrote, driven through MCP with their own OpenAPI documents.
usage: apps.py JUPYTER_PYTHON PREFECT_PYTHON"""
import asyncio, contextlib, json, os, pathlib, socket, subprocess, sys, tempfile, time, urllib.request
sys.path.insert(0, __file__.rsplit("/", 1)[0])
from common import BIN, Checks
from mcp import Client, StdioServerParameters

JUPYTER, PREFECT = sys.argv[1:3]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command, url, **options):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(url, timeout=2).close()
                break
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait()


def value(result):
    return json.loads(result.content[0].text)


async def jupyter(folder):
    checks = Checks("jupyter-server")
    port, token = free_port(), "interop-token"
    site = subprocess.run([JUPYTER, "-c", "import jupyter_server; print(jupyter_server.__path__[0])"], capture_output=True, text=True).stdout.strip()
    root = folder / "notebooks"
    root.mkdir()
    command = [JUPYTER, "-m", "jupyter_server", "--allow-root", "--no-browser", "--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"]
    mapping = folder / "jupyter.yaml"
    mapping.write_text(
        "version: 1\n"
        "sources:\n"
        f"  jupyter: {{ spec: {site}/services/api/api.yaml, base_url: 'http://127.0.0.1:{port}', headers: {{ Authorization: 'token ${{env:JUPYTER_TOKEN}}' }} }}\n"
        "tools:\n"
        "  read_file: { operation: 'GET /api/contents/{path}' }\n"
        "  write_file: { operation: 'PUT /api/contents/{path}' }\n"
        "  delete_file: { operation: 'DELETE /api/contents/{path}' }\n"
    )
    with running(command, f"http://127.0.0.1:{port}/api", env={**os.environ, "HOME": str(folder)}):
        server = StdioServerParameters(command=BIN, args=["serve", str(mapping), "--stdio"], env={**os.environ, "JUPYTER_TOKEN": token})
        async with Client(server) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            checks.true("has its tools", {"read_file", "write_file", "delete_file", "get_api_status"} <= set(names), names)
            result = await client.call_tool("write_file", {"path": "a b#1.txt", "type": "file", "format": "text", "content": "hello"})
            checks.same("creates a file", bool(result.is_error), False)
            file = root / "a b#1.txt"
            checks.same("the file is there", file.read_text() if file.exists() else None, "hello")
            result = await client.call_tool("read_file", {"path": "a b#1.txt"})
            checks.same("reads it", value(result).get("content"), "hello")
            result = await client.call_tool("delete_file", {"path": "a b#1.txt"})
            checks.same("deletes it", (bool(result.is_error), file.exists()), (False, False))
            result = await client.call_tool("read_file", {"path": "a b#1.txt"})
            checks.same("then it is an error", (bool(result.is_error), result.content[0].text[:8]), (True, "HTTP 404"))
            checks.true("the token is nowhere", token not in result.content[0].text, result.content[0].text)


async def prefect(folder):
    checks = Checks("prefect")
    port = free_port()
    environment = {**os.environ, "HOME": str(folder), "PREFECT_HOME": str(folder / "prefect"), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    command = [PREFECT, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    with running(command, f"http://127.0.0.1:{port}/api/health", env=environment):
        server = StdioServerParameters(command=BIN, args=["serve", f"http://127.0.0.1:{port}/openapi.json", "--base-url", f"http://127.0.0.1:{port}/api", "--stdio"], env=dict(os.environ))
        async with Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            checks.true("has many tools", len(tools) > 150, len(tools))
            def named(method, *words):
                found = [name for name in tools if all(word in name for word in words)]
                return min(found, key=len)
            create = named("POST", "create_variable")
            result = await client.call_tool(create, {"name": "interop", "value": {"n": [1, None, "x"]}, "tags": ["a"]})
            checks.same("creates a variable", bool(result.is_error), False)
            made = value(result)
            checks.same("its value arrived whole", made.get("value"), {"n": [1, None, "x"]})
            result = await client.call_tool(named("GET", "read_variable_by_name"), {"name": "interop"})
            checks.same("reads it", value(result).get("id"), made.get("id"))
            result = await client.call_tool(named("POST", "read_variables"), {"limit": 5})
            checks.same("lists it", [one["name"] for one in value(result)], ["interop"])
            result = await client.call_tool(named("DELETE", "delete_variable_by_name"), {"name": "interop"})
            checks.same("deletes it", bool(result.is_error), False)
            result = await client.call_tool(named("GET", "read_variable_by_name"), {"name": "interop"})
            checks.same("then it is an error", (bool(result.is_error), result.content[0].text[:8]), (True, "HTTP 404"))


async def main():
    with tempfile.TemporaryDirectory() as folder:
        await jupyter(pathlib.Path(folder))
        await prefect(pathlib.Path(folder))
    Checks("apps").done()


asyncio.run(main())
