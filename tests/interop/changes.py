"""A mapping and a resource that change while clients are connected: they hear of it, and find the new state.
usage: changes.py 1|2|fastmcp (1 = Python SDK 1.x, 2 = Python SDK 2.x, fastmcp = FastMCP 4, handshake only: it has no way to
listen in 2026-07-28)"""
import asyncio, itertools, pathlib, shutil, sys, tempfile, urllib.request
sys.path.insert(0, __file__.rsplit("/", 1)[0])
from common import BIN, Checks
from story import HERE, backend, free_port, running

SETTINGS = """version: 1
mappings: [story.yaml]
transports: { sse: /sse, websocket: /ws }
subscriptions: { every: 50ms }
"""
BOARD = "story://board"
numbers = itertools.count()
OLD, NEW = "  count:\n    operation: count", "  count_up:\n    operation: count"


class Mapping:
    """A copy of the story's mapping in which a tool changes its name back and forth."""

    def __init__(self, folder, rest):
        self.file = pathlib.Path(folder) / "story.yaml"
        shutil.copy(f"{HERE}/story.openapi.yaml", folder)
        shutil.copy(f"{HERE}/story.yaml", folder)
        self.settings = pathlib.Path(folder) / "rest-mcp.yaml"
        self.settings.write_text(SETTINGS)
        self.stdio = ["serve", "--config", str(self.settings), "--stdio"]
        self.rest = rest

    def write(self):
        """Writes something new on the board; returns it."""
        text = f"text {next(numbers)}"
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest.port}/board", data=text.encode(), method="PUT")
        urllib.request.urlopen(request, timeout=10).close()
        return text

    def turn(self):
        """Renames the tool; returns the name it has now and the one it had."""
        text = self.file.read_text()
        new = OLD in text
        self.file.write_text(text.replace(OLD, NEW) if new else text.replace(NEW, OLD))
        return ("count_up", "count") if new else ("count", "count_up")

    def served(self):
        port = free_port()
        return running([BIN, "serve", "--config", str(self.settings), "--listen", f"127.0.0.1:{port}"], port, env=self.rest.environment)


async def watch(label, mapping, heard, read):
    """A resource that the client is subscribed to changes."""
    checks = Checks(label)
    text = mapping.write()
    try:
        checks.same("hears that the resource changed", str(await asyncio.wait_for(heard(), 20)), BOARD)
    except TimeoutError:
        checks.true("hears that the resource changed", False, "nothing was heard")
    checks.same("reads the new text", await read(), text)


async def check(label, mapping, heard, names):
    checks = Checks(label)
    await names()
    now, before = mapping.turn()
    try:
        await asyncio.wait_for(heard(), 20)
        checks.same("hears that the tools changed", True, True)
    except TimeoutError:
        checks.true("hears that the tools changed", False, "nothing was heard")
    listed = await names()
    checks.same("lists the new name", (now in listed, before in listed), (True, False))


async def first(mapping):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.sse import sse_client
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client
    from mcp.client.websocket import websocket_client
    from pydantic import AnyUrl
    import mcp.types as types

    async def session(revision, streams, label):
        types.LATEST_PROTOCOL_VERSION = revision
        changed, updated = asyncio.Event(), asyncio.Queue()

        async def message(one):
            if isinstance(one, types.ServerNotification) and isinstance(one.root, types.ResourceUpdatedNotification):
                updated.put_nowait(one.root.params.uri)
            if isinstance(one, types.ServerNotification) and isinstance(one.root, types.ToolListChangedNotification):
                changed.set()

        async with streams as pair, ClientSession(pair[0], pair[1], message_handler=message) as client:
            await client.initialize()

            async def names():
                return [tool.name for tool in (await client.list_tools()).tools]
            # The stream for notifications is opened by a task of its own.
            await asyncio.sleep(0.3)
            await check(f"changes py1 {revision} {label}", mapping, changed.wait, names)

            async def read():
                return (await client.read_resource(AnyUrl(BOARD))).contents[0].text
            await client.subscribe_resource(AnyUrl(BOARD))
            await watch(f"changes py1 {revision} {label}", mapping, updated.get, read)

    for revision in ["2024-11-05", "2025-11-25"]:
        await session(revision, stdio_client(StdioServerParameters(command=BIN, args=mapping.stdio, env=mapping.rest.environment)), "stdio")
        with mapping.served() as port:
            await session(revision, streamablehttp_client(f"http://127.0.0.1:{port}/mcp"), "http")
            await session(revision, sse_client(f"http://127.0.0.1:{port}/sse"), "sse")
            await session(revision, websocket_client(f"ws://127.0.0.1:{port}/ws"), "websocket")


async def second(mapping):
    from mcp import Client, StdioServerParameters

    async def session(target, label):
        async with Client(target, mode="2026-07-28", cache=None) as client:
            async def names():
                return [tool.name for tool in (await client.list_tools()).tools]
            async with client.listen(tools_list_changed=True) as subscription:
                await check(f"changes py2 {label}", mapping, subscription.__anext__, names)

            async def read():
                return (await client.read_resource(BOARD)).contents[0].text
            async with client.listen(resource_subscriptions=[BOARD]) as subscription:
                async def heard():
                    return (await subscription.__anext__()).uri
                await watch(f"changes py2 {label}", mapping, heard, read)

    await session(StdioServerParameters(command=BIN, args=mapping.stdio, env=mapping.rest.environment), "stdio")
    with mapping.served() as port:
        await session(f"http://127.0.0.1:{port}/mcp", "http")


async def fastmcp(mapping):
    from fastmcp import Client
    from fastmcp.client.messages import MessageHandler
    from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

    class Heard(MessageHandler):
        def __init__(self):
            self.changed = asyncio.Event()

        async def on_tool_list_changed(self, _):
            self.changed.set()

    async def session(target, label):
        heard = Heard()
        async with Client(target, mode="legacy", message_handler=heard) as client:
            async def names():
                return [tool.name for tool in await client.list_tools()]
            await asyncio.sleep(0.3)
            await check(f"changes fastmcp {label}", mapping, heard.changed.wait, names)

    await session(StdioTransport(command=BIN, args=mapping.stdio, env=mapping.rest.environment), "stdio")
    with mapping.served() as port:
        await session(StreamableHttpTransport(f"http://127.0.0.1:{port}/mcp"), "http")
        await session(SSETransport(f"http://127.0.0.1:{port}/sse"), "sse")


async def main():
    with tempfile.TemporaryDirectory() as folder, backend() as rest:
        await {"1": first, "2": second, "fastmcp": fastmcp}[sys.argv[1]](Mapping(folder, rest))
    Checks(f"changes {sys.argv[1]}").done()


asyncio.run(main())
