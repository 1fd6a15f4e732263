"""Python SDK 2.x. usage: py2.py auto|legacy|2026-07-28"""
import asyncio, json, sys
sys.path.insert(0, __file__.rsplit("/", 1)[0])
from common import BIN, PETS, REX, SERVE, TOM, TOOLS, Checks, http_server
from mcp import Client, StdioServerParameters

MODE = sys.argv[1]


async def session(target, label):
    checks = Checks(f"py2 {MODE} {label}")
    async with Client(target, mode=MODE) as client:
        wanted = "2025-11-25" if MODE == "legacy" else "2026-07-28"
        checks.same("version", client.protocol_version, wanted)
        tools = (await client.list_tools()).tools
        checks.same("tool names", [tool.name for tool in tools], TOOLS)
        result = await client.call_tool("get_pet", {"id": 7})
        checks.same("get_pet is no error", bool(result.is_error), False)
        checks.same("get_pet text", json.loads(result.content[0].text), REX)
        checks.same("get_pet structured", result.structured_content, REX)
        result = await client.call_tool("find_pets", {"status": ["available", "sold"]})
        checks.same("find_pets text", result.content[0].text.replace(" ", ""), PETS)
        result = await client.call_tool("addPet", {"name": "Tom", "tags": ["cat"]})
        checks.same("addPet", json.loads(result.content[0].text), TOM)
        result = await client.call_tool("deletePet", {"petId": 7})
        checks.same("deletePet", (bool(result.is_error), result.content[0].text), (False, "OK (204 No Content)"))
        result = await client.call_tool("getPhoto", {"petId": 7})
        checks.same("getPhoto", (result.content[0].type, result.content[0].mime_type), ("image", "image/png"))
        result = await client.call_tool("get_pet", {"id": "seven"})
        checks.same("wrong type is an error", bool(result.is_error), True)
        checks.true("wrong type names the argument", "id" in result.content[0].text, result.content[0].text)
        result = await client.call_tool("get_pet", {"ID": 7})
        checks.true("unknown argument gets a hint", "`id`" in result.content[0].text, result.content[0].text)
        try:
            await client.call_tool("get_pets", {})
            checks.true("unknown tool is refused", False, "no error")
        except Exception as error:
            checks.true("unknown tool is refused", "get_pets" in str(error), str(error))
        results = await asyncio.gather(*(client.call_tool("get_pet", {"id": 7}) for _ in range(20)))
        checks.same("20 calls at once", [json.loads(one.content[0].text) for one in results], [REX] * 20)


async def main():
    await session(StdioServerParameters(command=BIN, args=[*SERVE, "--stdio"]), "stdio")
    with http_server() as port:
        await session(f"http://127.0.0.1:{port}/mcp", "http")
    Checks(f"py2 {MODE}").done()


asyncio.run(main())
