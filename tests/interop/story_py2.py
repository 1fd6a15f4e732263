"""Python SDK 2.x drives the story. usage: story_py2.py auto|legacy|2026-07-28"""
import asyncio, base64, sys
sys.path.insert(0, __file__.rsplit("/", 1)[0])
from common import BIN, Checks
from story import Person, backend, story
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.types import ElicitResult

MODE = sys.argv[1] if len(sys.argv) == 2 else None


class Py2:
    def __init__(self, client):
        self.client = client

    async def call(self, name, arguments, steps=None):
        async def progress(value, total, message):
            steps.append((value, total))
        result = await self.client.call_tool(name, arguments, progress_callback=None if steps is None else progress)
        return bool(result.is_error), [("text", one.text) if one.type == "text" else (one.mime_type, base64.b64decode(one.data)) for one in result.content]

    async def read(self, uri):
        contents = (await self.client.read_resource(uri)).contents
        return [(one.mime_type, base64.b64decode(one.blob) if hasattr(one, "blob") else one.text) for one in contents]

    async def prompt(self, name, arguments):
        return [one.content.text for one in (await self.client.get_prompt(name, arguments)).messages]

    async def abandon(self, name, arguments, started):
        task = asyncio.create_task(self.client.call_tool(name, arguments))
        await started()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def session(target, label, backend, mode=MODE, stops=True):
    person = Person()

    async def asked(context, params):
        person.asked.append(params.message)
        return ElicitResult(action=person.action, content=person.content)

    async with Client(target, mode=mode, elicitation_callback=asked) as client:
        await story(f"story py2 {mode} {label}", backend, Py2(client), person, True, stops)


async def main():
    with backend() as rest:
        await session(StdioServerParameters(command=BIN, args=rest.stdio, env=rest.environment), "stdio", rest)
        with rest.served() as port:
            await session(f"http://127.0.0.1:{port}/mcp", "http", rest)
            if MODE == "legacy":
                await session(sse_client(f"http://127.0.0.1:{port}/sse"), "sse", rest)
    Checks(f"story py2 {MODE}").done()


if __name__ == "__main__":
    asyncio.run(main())
