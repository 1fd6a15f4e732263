"""Python SDK 1.x drives the story. usage: story_py1.py REVISION"""
import asyncio, base64, sys
sys.path.insert(0, __file__.rsplit("/", 1)[0])
import mcp.types as types
from common import BIN, Checks
from story import Person, backend, story
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.client.websocket import websocket_client
from pydantic import AnyUrl

REVISION = sys.argv[1]
types.LATEST_PROTOCOL_VERSION = REVISION


class Py1:
    def __init__(self, client):
        self.client = client

    async def call(self, name, arguments, steps=None):
        async def progress(value, total, message):
            steps.append((value, total))
        result = await self.client.call_tool(name, arguments, progress_callback=None if steps is None else progress)
        return bool(result.isError), [("text", one.text) if one.type == "text" else (one.mimeType, base64.b64decode(one.data)) for one in result.content]

    async def read(self, uri):
        contents = (await self.client.read_resource(AnyUrl(uri))).contents
        return [(one.mimeType, base64.b64decode(one.blob) if hasattr(one, "blob") else one.text) for one in contents]

    async def prompt(self, name, arguments):
        return [one.content.text for one in (await self.client.get_prompt(name, arguments)).messages]

    async def abandon(self, name, arguments, started):
        # This SDK sends no cancellation by itself: the application must.
        number = self.client._request_id
        task = asyncio.create_task(self.client.call_tool(name, arguments))
        await started()
        params = types.CancelledNotificationParams(requestId=number, reason="interop")
        await self.client.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def session(streams, label, backend):
    person = Person()

    async def asked(context, params):
        person.asked.append(params.message)
        return types.ElicitResult(action=person.action, content=person.content)

    async with streams as pair:
        async with ClientSession(pair[0], pair[1], elicitation_callback=asked) as client:
            await client.initialize()
            await story(f"story py1 {REVISION} {label}", backend, Py1(client), person, REVISION >= "2025-06-18")


async def main():
    with backend() as rest:
        await session(stdio_client(StdioServerParameters(command=BIN, args=rest.stdio, env=rest.environment)), "stdio", rest)
        with rest.served() as port:
            await session(streamablehttp_client(f"http://127.0.0.1:{port}/mcp"), "http", rest)
            await session(sse_client(f"http://127.0.0.1:{port}/sse"), "sse", rest)
            await session(websocket_client(f"ws://127.0.0.1:{port}/ws"), "websocket", rest)
    Checks(f"story py1 {REVISION}").done()


asyncio.run(main())
