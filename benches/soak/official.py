"""Callers that use the official Python SDK 2.x, in both eras; run in a virtual environment that has it.
usage: official.py PORT SECONDS PACE FIRST OUT     (FIRST: the first number of its calls; OUT: where the tally goes)"""
import asyncio, itertools, json, sys, time
sys.path.insert(0, __file__.rsplit("/", 1)[0])
from parts import KEY, Tally, arguments, plan
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

PORT, SECONDS, PACE, FIRST, OUT = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
PAUSE, CALLS = 0.2 / PACE, 100
tally, numbers, end = Tally(), itertools.count(FIRST), time.monotonic() + SECONDS
heard = {"changes": 0, "sessions": 0}


async def asked(context, params):
    return ElicitResult(action="accept", content={"name": "Ann"})


async def call(client, number):
    begun = time.monotonic()
    try:
        result = await client.call_tool(plan(number)[0], arguments(number))
    except Exception as error:
        tally.unanswered.append((number, repr(error)))
        return
    tally.times.append(time.monotonic() - begun)
    tally.judge(number, bool(result.is_error), result.structured_content, str(result))


async def hang_up(client, number):
    """Begins a call and gives it up."""
    tally.dropped.append(number)
    task = asyncio.create_task(client.call_tool(plan(number)[0], arguments(number)))
    await asyncio.sleep(0.005)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def caller(mode):
    """Sessions of a hundred calls each, until the time is over."""
    while time.monotonic() < end:
        heard["sessions"] += 1
        async with httpx2.AsyncClient(headers={"x-api-key": KEY}, timeout=60) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{PORT}/mcp", http_client=http)
            async with Client(transport, mode=mode, elicitation_callback=asked) as client:
                for _ in range(CALLS):
                    number = next(numbers)
                    # A server without sessions can't ask a client of the older era.
                    while mode == "legacy" and plan(number)[0] == "order":
                        number = next(numbers)
                    await (hang_up if number % 37 == 0 else call)(client, number)
                    if time.monotonic() > end:
                        return
                    await asyncio.sleep(PAUSE)
                names = {tool.name for tool in (await client.list_tools()).tools}
                if not {"put_thing", "get_thing", "put_shaky", "order"} <= names:
                    tally.wrong.append((0, "tools/list", sorted(names)))


async def listener():
    """Hears of changed tools while the mapping changes."""
    while time.monotonic() < end:
        async with httpx2.AsyncClient(headers={"x-api-key": KEY}, timeout=None) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{PORT}/mcp", http_client=http)
            async with Client(transport, mode="2026-07-28", cache=None) as client:
                async with client.listen(tools_list_changed=True) as subscription:
                    until = min(end, time.monotonic() + 60)
                    while (left := until - time.monotonic()) > 0:
                        try:
                            await asyncio.wait_for(subscription.__anext__(), left)
                        except TimeoutError:
                            break
                        heard["changes"] += 1


async def main():
    await asyncio.gather(*(caller(mode) for mode in ["2026-07-28", "legacy"] * 2), listener())


try:
    asyncio.run(main())
finally:
    lists = {name: getattr(tally, name) for name in ("answered", "failed", "wrong", "unanswered", "dropped", "times")}
    with open(OUT, "w") as file:
        json.dump({"lists": lists, **heard}, file)
