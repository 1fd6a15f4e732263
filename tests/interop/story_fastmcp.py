"""FastMCP 4 drives the story. usage: story_fastmcp.py auto|legacy|2026-07-28"""
import asyncio, base64, sys
sys.path.insert(0, __file__.rsplit("/", 1)[0])
from common import BIN, Checks
from story import Person, backend, story
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

MODE = sys.argv[1]


class Fast:
    def __init__(self, client):
        self.client = client

    async def call(self, name, arguments, steps=None):
        async def progress(value, total, message):
            steps.append((value, total))
        result = await self.client.call_tool(name, arguments, progress_handler=None if steps is None else progress, raise_on_error=False)
        return bool(result.is_error), [("text", one.text) if one.type == "text" else (one.mime_type, base64.b64decode(one.data)) for one in result.content]

    async def read(self, uri):
        contents = await self.client.read_resource(uri)
        return [(one.mime_type, base64.b64decode(one.blob) if hasattr(one, "blob") else one.text) for one in contents]

    async def prompt(self, name, arguments):
        return [one.content.text for one in (await self.client.get_prompt(name, arguments)).messages]

    async def abandon(self, name, arguments, started):
        task = asyncio.create_task(self.client.call_tool(name, arguments))
        await started()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def session(target, label, backend):
    person = Person()

    async def asked(message, kind, params, context):
        person.asked.append(message)
        return ElicitResult(action=person.action, content=person.content)

    async with Client(target, mode=MODE, elicitation_handler=asked) as client:
        await story(f"story fastmcp {MODE} {label}", backend, Fast(client), person, True)


async def main():
    with backend() as rest:
        await session(StdioTransport(command=BIN, args=rest.stdio, env=rest.environment), "stdio", rest)
        with rest.served() as port:
            await session(StreamableHttpTransport(f"http://127.0.0.1:{port}/mcp"), "http", rest)
            if MODE == "legacy":
                await session(SSETransport(f"http://127.0.0.1:{port}/sse"), "sse", rest)
    Checks(f"story fastmcp {MODE}").done()


asyncio.run(main())
