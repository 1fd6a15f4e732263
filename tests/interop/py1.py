"""Python SDK 1.x, one handshake revision. usage: py1.py 2024-11-05|2025-03-26|2025-06-18|2025-11-25"""
import asyncio, json, sys
sys.path.insert(0, __file__.rsplit("/", 1)[0])
import mcp.types as types
from common import BIN, REX, SERVE, TOM, TOOLS, Checks, http_server
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.client.websocket import websocket_client

REVISION = sys.argv[1]
types.LATEST_PROTOCOL_VERSION = REVISION
import mcp.client.session as session_module
session_module.types.LATEST_PROTOCOL_VERSION = REVISION


async def session(streams, label):
    checks = Checks(f"py1 {REVISION} {label}")
    async with streams as pair:
        async with ClientSession(pair[0], pair[1]) as client:
            answer = await client.initialize()
            checks.same("version", answer.protocolVersion, REVISION)
            tools = (await client.list_tools()).tools
            checks.same("tool names", [tool.name for tool in tools], TOOLS)
            checks.same("output schema from 2025-06-18 on", tools[2].outputSchema is not None, REVISION >= "2025-06-18")
            checks.same("annotations from 2025-03-26 on", tools[2].annotations is not None, REVISION >= "2025-03-26")
            result = await client.call_tool("get_pet", {"id": 7})
            checks.same("get_pet text", json.loads(result.content[0].text), REX)
            checks.same("get_pet structured", result.structuredContent, REX if REVISION >= "2025-06-18" else None)
            result = await client.call_tool("addPet", {"name": "Tom"})
            checks.same("addPet", json.loads(result.content[0].text), TOM)
            result = await client.call_tool("getPhoto", {"petId": 7})
            checks.same("getPhoto", (result.content[0].type, result.content[0].mimeType), ("image", "image/png"))
            result = await client.call_tool("get_pet", {"id": 0})
            checks.same("below the minimum is an error", result.isError, True)
            await client.send_ping()
            checks.same("ping", True, True)


async def main():
    await session(stdio_client(StdioServerParameters(command=BIN, args=[*SERVE, "--stdio"])), "stdio")
    with http_server() as port:
        await session(streamablehttp_client(f"http://127.0.0.1:{port}/mcp"), "http")
        await session(sse_client(f"http://127.0.0.1:{port}/sse"), "sse")
        await session(websocket_client(f"ws://127.0.0.1:{port}/ws"), "websocket")
    Checks(f"py1 {REVISION}").done()


asyncio.run(main())
