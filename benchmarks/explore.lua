-- What pages ask a server, one request after another: every client has a place of its own in the list.
-- The paths come from the environment, so that this file knows nothing of the run.

local lines, at, threads = {}, 0, {}

for line in io.lines(os.getenv("COTERIE_REQUESTS")) do
  local method, path, body = line:match("^(%S+) (%S+) ?(.*)$")
  table.insert(lines, { method = method, path = path, body = body })
end

function setup(thread)
  table.insert(threads, thread)
  thread:set("first", #threads * 7)
end

function request()
  at = at + 1
  local one = lines[(first + at * 13) % #lines + 1]
  local headers = { ["X-Coterie"] = "1" }
  if one.body ~= "" then headers["Content-Type"] = "application/json" end
  return wrk.format(one.method, one.path, headers, one.body ~= "" and one.body or nil)
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '{"requests": %d, "seconds": %.3f, "bytes": %d, "errors": %d, "refused": %d, "median": %.1f, "most": %.1f, "p99": %.1f}\n',
    summary.requests, summary.duration / 1e6, summary.bytes, e.connect + e.read + e.write + e.timeout, e.status,
    latency:percentile(50) / 1e3, latency.max / 1e3, latency:percentile(99) / 1e3))
end
