-- wrk script: sends one request again and again; JSON-RPC bodies get a fresh id each. Started by harness.py:
-- wrk … -s call.lua URL -- CONFIG.lua, where the config is a table of `head`, `prefix`, `suffix`, `check` and `need`.
local cfg, id = nil, 100000000
local threads = {}
bad, sample = 0, ""
function setup(thread) table.insert(threads, thread) end
function init(args)
  cfg = dofile(args[1])
  if cfg.check then
    response = function(status, _, body)
      local good = status == 200 and (not cfg.need or string.find(body, cfg.need, 1, true))
      if not good or string.find(body, '"isError":true', 1, true) or string.find(body, '"error":{', 1, true) then
        bad = bad + 1
        sample = status .. " " .. string.sub(body, 1, 200)
      end
    end
  end
end
function request()
  if not cfg.prefix then return cfg.head .. "\r\n" end
  id = id + 1
  return cfg.head .. "Content-Length: " .. (#cfg.prefix + 9 + #cfg.suffix) .. "\r\n\r\n" .. cfg.prefix .. id .. cfg.suffix
end
function done(summary, latency, _)
  local all, text = 0, ""
  for _, thread in ipairs(threads) do
    all = all + (thread:get("bad") or 0)
    text = thread:get("sample") or text
  end
  local e = summary.errors
  io.write(string.format("\nROW %d %d %d %d %d %d %d %s\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), latency.max, e.connect + e.read + e.write + e.status + e.timeout, all, string.gsub(text, "%c", " ")))
end
