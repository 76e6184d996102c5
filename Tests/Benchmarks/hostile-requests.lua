-- For wrk: a mix of what an attacker sends, in an order that is the same each time. USED is a file with a token that was used up.
-- None of it may be let through.
local requests, count = {}, 0

local function post(body, kind)
    return wrk.format("POST", "/v1/verify?requestor=MML&resource=TNT", { ["Content-Type"] = kind or "text/plain" }, body)
end

local function ask(target, headers)
    headers = headers or {}
    headers["X-Forwarded-Uri"] = target
    return wrk.format("GET", "/v1/authz/forward-auth", headers)
end

-- `text` with one byte changed.
local function altered(text, position)
    local byte = text:byte(position) == 65 and "B" or "A"
    return text:sub(1, position - 1) .. byte .. text:sub(position + 1)
end

function init()
    math.randomseed(7)
    local file = io.open(os.getenv("USED"))
    local used = file:read("*l")
    file:close()
    local paid = { ["X-Media-Token"] = used }
    -- Mostly cheap to send: replays, forgeries, junk.
    for number = 1, 400 do
        requests[#requests + 1] = post(used)
        requests[#requests + 1] = post(altered(used, math.random(#used)))
        requests[#requests + 1] = post(used:sub(1, math.random(#used)))
        requests[#requests + 1] = ask("/paid/" .. number, { ["X-Media-Token"] = altered(used, math.random(#used)) })
        requests[#requests + 1] = ask("/paid/" .. number)
        requests[#requests + 1] = ask("/nothing/" .. math.random(1000000), paid)
        requests[#requests + 1] = wrk.format("GET", "/" .. math.random(1000000))
    end
    for _, dodge in ipairs({ "/free/../paid", "/free/members/x", "/free/MEMBERS", "/free/member%C5%BF", "//paid", "/free/%2e%2e/paid", "/free/..;/paid", "/FREE/x", "/free/%00", "http://x/free" }) do
        requests[#requests + 1] = ask(dodge)
    end
    -- Some that are dear: to the limit on a token, and on headers.
    local dear = {
        post(string.rep(" ", 65000)), post(string.rep("A", 65000)), post("PHNpZ25hdHVyZUluZm8" .. string.rep("A", 65000)),
        post("%3CsignatureInfo%3E" .. string.rep("%41", 21000)), post("{\"a\":\"" .. string.rep("x", 65000) .. "\"}"),
        post("{\"a\":[" .. string.rep("0,", 30000) .. "0]}"), post(string.rep("{\"a\":", 10000)),
        post("<play>" .. string.rep("<a/>", 16000) .. "</play>"), post("<play>" .. string.rep("<a>", 20000)),
        post("<play a=\"" .. string.rep("x", 64000) .. "\"/>"),
        post("<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\">]><play>" .. string.rep("&a;", 20000) .. "</play>"),
        post("{\"token\":\"" .. string.rep("\\u0041", 10000) .. "\"}", "application/json"),
        post("token=" .. string.rep("&token=", 9000), "application/x-www-form-urlencoded"),
        ask("/paid/" .. string.rep("a/", 10000)), ask("/free/" .. string.rep("%2e", 9000)),
        ask("/paid/x", { ["Cookie"] = string.rep("media_token=A; ", 2000) }),
    }
    -- Accents: to bring a run of them into a normal form takes time that grows with its square.
    local accents = string.rep("\204\129\204\150", 7000)
    local escaped = string.rep("%CC%81%CC%96", 2500)
    for _, body in ipairs({ accents, "{\"" .. accents .. "\":1,\"a" .. accents .. "\":2}", "<play>" .. accents .. "</play>" }) do
        dear[#dear + 1] = post(body)
        dear[#dear + 1] = post(body, "application/json")
    end
    dear[#dear + 1] = post("token=1&" .. accents .. "=" .. accents, "application/x-www-form-urlencoded")
    dear[#dear + 1] = post("token=1&" .. escaped .. "=1&resource=" .. escaped, "application/x-www-form-urlencoded")
    dear[#dear + 1] = post("x", accents)
    dear[#dear + 1] = post("token=x" .. string.rep("&a", 100000), "application/x-www-form-urlencoded")
    local many = {}
    for number = 1, 510 do many[number] = " p" .. number .. ":a=''" end
    dear[#dear + 1] = post("<play><" .. string.rep("N", 50000) .. table.concat(many) .. "/></play>")
    dear[#dear + 1] = ask("/paid/x", { ["X-Media-Token"] = "<play><" .. string.rep("N", 25000) .. table.concat(many) })
    dear[#dear + 1] = ask("/free/members/" .. escaped)
    dear[#dear + 1] = ask("/free/" .. escaped)
    dear[#dear + 1] = ask("/free/" .. accents)
    dear[#dear + 1] = ask("/paid/x", { ["Cookie"] = accents .. "=1; media_token=A" })
    dear[#dear + 1] = ask("/paid/x", { ["X-Media-Token"] = accents })
    for number, request in ipairs(dear) do
        for copy = 1, 2 do table.insert(requests, math.random(#requests), request) end
    end
end

function request()
    count = count % #requests + 1
    return requests[count]
end

function done(_, latency)
    io.write(string.format("slowest %.0f ms\n", latency.max / 1000))
end
