-- Half of the requests list the tools, half call one; each call has a number. What was answered is written down.
-- SOAK_FIRST, SOAK_OUT, SOAK_PAUSE (milliseconds), SOAK_KEY and SOAK_REVISION come from the environment.
local number = tonumber(os.getenv("SOAK_FIRST"))
local pause = tonumber(os.getenv("SOAK_PAUSE"))
local revision = os.getenv("SOAK_REVISION")
local out
local turn = 0

local meta = '"_meta":{"io.modelcontextprotocol/protocolVersion":"' .. revision
   .. '","io.modelcontextprotocol/clientCapabilities":{}}'

local function headers(method, name)
   return {
      ["content-type"] = "application/json",
      ["accept"] = "application/json, text/event-stream",
      ["x-api-key"] = os.getenv("SOAK_KEY"),
      ["mcp-protocol-version"] = revision,
      ["mcp-method"] = method,
      ["mcp-name"] = name,
   }
end

function init()
   out = io.open(os.getenv("SOAK_OUT"), "w")
   -- Line by line: wrk closes nothing at its end.
   out:setvbuf("line")
end

function delay()
   return pause
end

function request()
   turn = turn + 1
   if turn % 2 == 0 then
      local body = '{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{' .. meta .. '}}'
      return wrk.format("POST", "/mcp", headers("tools/list"), body)
   end
   -- Numbers divisible by eight belong to `put_thing`.
   number = number + 8
   local body = '{"jsonrpc":"2.0","id":' .. number .. ',"method":"tools/call","params":{"name":"put_thing","arguments":{"number":'
      .. number .. '},' .. meta .. '}}'
   return wrk.format("POST", "/mcp", headers("tools/call", "put_thing"), body)
end

function response(status, _, body)
   local id = body:match('"id":(%d+)')
   if id then
      out:write(id, " ", status, " ", tostring(body:find('"isError":true', 1, true) ~= nil), " ",
         body:match('"structuredContent":(%b{})') or "{}", "\n")
   elseif status ~= 200 or not body:find('"put_thing"', 1, true) then
      out:write("list ", status, " true {}\n")
   end
end
