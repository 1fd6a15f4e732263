"""Python SDK 2.x drives every form of the mapping language. usage: language_py2.py auto|legacy|2026-07-28"""
import asyncio, sys
sys.path.insert(0, __file__.rsplit("/", 1)[0])
from common import BIN, Checks
from language import HERE, RUNS, api, differences, filled, wanted
from mcp import Client, StdioServerParameters
from mcp.types import PromptReference

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


async def main():
    for run in RUNS:
        checks = Checks(f"language py2 {MODE} {run['mapping']}")
        with api() as (environment, requests):
            command = StdioServerParameters(command=BIN, args=["serve", f"{HERE}/{run['mapping']}", "--stdio"], env=environment)
            async with Client(command, mode=MODE) as client:
                saved = {}
                for case in run["cases"]:
                    requests()
                    try:
                        got = await once(client, case, saved)
                    except Exception as error:
                        got = {"refused": str(error)}
                    problems = differences(wanted(case, client.protocol_version), got)
                    problems += requests.check(case)
                    for name, path in case.get("save", {}).items():
                        value = got
                        for key in path:
                            value = value[key]
                        saved[name] = value
                    checks.same(case["name"], problems, [])
    Checks(f"language py2 {MODE}").done()


asyncio.run(main())
