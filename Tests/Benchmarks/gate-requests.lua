-- For wrk with one thread: asks for TARGET with the HEADERS, one 'Name: value' per line. With TOKENS, a file of one token per line, each
-- request posts the next token, and the load ends when all are sent, or begins again with the first if AROUND is set. A '{n}' in TARGET is the number of the request.
-- Prints: answers, of them not 2xx, errors, seconds, p50 and p99 in microseconds, and 'out' if the tokens were used up.
local ffi = require("ffi")
ffi.cdef("struct moment { long seconds; long nanoseconds; }; int clock_gettime(int clock, struct moment *moment);")
local monotonic = 1

local function now()
    local moment = ffi.new("struct moment")
    ffi.C.clock_gettime(monotonic, moment)
    return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end

local tokens, target, before, after, fixed
local count = 0
local threads = {}

function setup(thread) threads[#threads + 1] = thread end

function init()
    local path = os.getenv("TOKENS")
    tokens = path and io.open(path)
    target = os.getenv("TARGET")
    local headers = "Host: " .. wrk.host .. ":" .. wrk.port .. "\r\n"
    for line in (os.getenv("HEADERS") or ""):gmatch("[^\n]+") do headers = headers .. line .. "\r\n" end
    local mark = target:find("{n}", 1, true)
    before = mark and target:sub(1, mark - 1) or target
    after = (mark and target:sub(mark + 3) or "") .. " HTTP/1.1\r\n" .. headers
    distinct = mark ~= nil
    fixed = not tokens and "GET " .. before .. after .. "\r\n"
end

-- wrk calls this once before it begins.
function request()
    count = count + 1
    if count == 2 then began = now() end
    if fixed then return fixed end
    local token = tokens:read("*l")
    if not token and os.getenv("AROUND") then
        tokens:seek("set")
        token = tokens:read("*l")
    end
    if not token then
        ended = ended or now()
        wrk.thread:stop()
        token = ""
    end
    return "POST " .. before .. (distinct and count or "") .. after .. "Content-Type: text/plain\r\nContent-Length: " .. #token .. "\r\n\r\n" .. token
end

function done(summary, latency)
    local began, ended = threads[1]:get("began"), threads[1]:get("ended")
    local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout
    local seconds = ended and began and ended - began or summary.duration / 1e6
    io.write(string.format("figures %d %d %d %.3f %d %d %s\n", summary.requests, summary.errors.status, errors, seconds,
        latency:percentile(50), latency:percentile(99), ended and "out" or ""))
end
