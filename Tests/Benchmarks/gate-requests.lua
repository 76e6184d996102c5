-- For wrk: posts the tokens of the file TOKENS to PATH, in order and around again, for the requestor and resource of
-- REQUESTOR and RESOURCE. One thread.
local requests, count = {}, 0

function init()
    local headers = {
        ["Content-Type"] = "text/plain",
        ["X-Requestor-Id"] = os.getenv("REQUESTOR"),
        ["X-Resource-Id"] = os.getenv("RESOURCE"),
    }
    for token in io.lines(os.getenv("TOKENS")) do
        requests[#requests + 1] = wrk.format("POST", os.getenv("PATH_OF_GATE"), headers, token)
    end
end

function request()
    count = count % #requests + 1
    return requests[count]
end
