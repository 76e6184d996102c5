-- Asks the media token gate at {gate} about a request. HAProxy 2.6 or newer loads it by lua-load.
core.register_action("media-token", {"http-req"}, function(txn)
    local question = {
        ["x-original-uri"] = {txn.sf:pathq()}, ["x-original-method"] = {txn.sf:method()},
        ["x-original-host"] = {txn.sf:req_fhdr("host")}, ["x-forwarded-for"] = {txn.sf:src()},
        ["x-request-id"] = {txn.sf:uuid()}}
    local received = txn.http:req_get_headers()
    for _, name in ipairs({{fields}}) do
        for _, value in pairs(received[name] or {}) do
            question[name] = question[name] or {}
            table.insert(question[name], value)
        end
    end
    local answer = core.httpclient():head{
        url = "http://{gate}/v1/authz/auth-request", headers = question, timeout = 2000}
    local code = answer.headers and answer.headers["x-media-token-code"]
    local cookie = answer.headers and answer.headers["set-cookie"]
    if cookie then txn:set_var("txn.media_token_cookie", cookie[0]) end
    local retry = answer.headers and answer.headers["retry-after"]
    if retry then txn:set_var("txn.media_token_retry", retry[0]) end
    txn:set_var("txn.media_token_status", answer.status or 0)
    txn:set_var("txn.media_token_code", code and code[0] or "ERROR_UNKNOWN")
end, 0)
