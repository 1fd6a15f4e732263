"""Python SDK 2.x drives every form of the mapping language. usage: language_py2.py auto|legacy|2026-07-28"""
import asyncio, sys
sys.path.insert(0, __file__.rsplit("/", 1)[0])
from common import BIN, Checks
from language import HERE, RUNS, api, differences, filled, wanted
from mcp import Client, StdioServerParameters
from mcp.types import CreateMessageResult, ElicitResult, ListRootsResult, PromptReference, Root, TextContent

MODE = sys.argv[1]


def plain(result):
    return result.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def once(client, case, saved):
    args = filled(case.get("args", {}), saved)
    if "call" in case:
        return plain(await client.call_tool(case["call"], args))
    if "read" in case:
        return plain(await client.read_resource(filled(case["read"], saved)))
    if "prompt" in case:
        return plain(await client.get_prompt(case["prompt"], args))
    if "complete" in case:
        reference = PromptReference(type="ref/prompt", name=case["complete"])
        return plain(await client.complete(reference, {"name": case["argument"], "value": case["typed"]}))
    tools = (await client.list_tools()).tools
    if "names" in case:
        return {"names": [tool.name for tool in tools]}
    return plain(next(tool for tool in tools if tool.name == case["tool"]))


class Person:
    """The client's side: what a case says, and what was asked."""

    def __init__(self):
        self.says, self.asked = {}, []

    async def elicit(self, context, params):
        self.asked.append(params.message)
        if self.says.get("decline"):
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=self.says["elicit"])

    async def sample(self, context, params):
        self.asked.append(params.messages[0].content.text)
        return CreateMessageResult(role="assistant", model="interop", content=TextContent(type="text", text=self.says["sample"]))

    async def roots(self, context):
        self.asked.append("roots")
        return ListRootsResult(roots=[Root(uri=uri) for uri in self.says["roots"]])


async def main():
    person = Person()
    for run in RUNS:
        checks = Checks(f"language py2 {MODE} {run['mapping']}")
        with api() as (environment, requests):
            command = StdioServerParameters(command=BIN, args=["serve", f"{HERE}/{run['mapping']}", "--stdio"], env=environment)
            async with Client(
                command, mode=MODE, elicitation_callback=person.elicit, sampling_callback=person.sample, list_roots_callback=person.roots
            ) as client:
                saved = {}
                for case in run["cases"]:
                    requests()
                    person.says, person.asked = case.get("client", {}), []
                    try:
                        got = await once(client, case, saved)
                    except Exception as error:
                        got = {"refused": str(error)}
                    problems = differences(wanted(case, client.protocol_version), got)
                    problems += requests.check(case)
                    if "asked" in case and sorted(person.asked) != sorted(case["asked"]):
                        problems.append(f"asked {person.asked}")
                    for name, path in case.get("save", {}).items():
                        value = got
                        for key in path:
                            value = value[key]
                        saved[name] = value
                    checks.same(case["name"], problems, [])
    Checks(f"language py2 {MODE}").done()


asyncio.run(main())
