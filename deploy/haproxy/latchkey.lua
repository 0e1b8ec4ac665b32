-- Forward authentication for HAProxy 2.6 or newer: docs/forward-auth.md.
-- Asks the gateway about each request, hands the identity to the server, and passes every refusal on to the browser.

local VERIFY = "http://127.0.0.1:4180/.latchkey/verify"

-- HAProxy 2.6 crashes when a Lua script sends more fields than `tune.http.maxhdr`, which is 101.
local MOST_FIELDS = 90

-- About the connection to HAProxy, or about a body that is not sent along.
local NOT_ASKED = {
  ["connection"] = true, ["content-length"] = true, ["expect"] = true, ["keep-alive"] = true,
  ["te"] = true, ["trailer"] = true, ["transfer-encoding"] = true, ["upgrade"] = true,
}

local function without_own_cookies(cookie)
  local kept = {}
  for pair in cookie:gmatch("[^;]+") do
    if not pair:lower():match("^[%s=]*__host%-latchkey%-") then
      table.insert(kept, (pair:gsub("^%s+", "")))
    end
  end
  return table.concat(kept, "; ")
end

core.register_action("latchkey_verify", { "http-req" }, function(txn)
  local headers, cookies, count = {}, {}, 0
  for name, values in pairs(txn.http:req_get_headers()) do
    local list = {}
    for _, value in pairs(values) do table.insert(list, value) end
    count = count + #list
    local is_ours = name:match("^x[-_]forwarded[-_]") or name:match("^x[-_]original[-_]")
    if name == "cookie" then cookies = list end
    local all = table.concat(list, ","):lower()
    local is_forged = name:match("^x[^a-z0-9]latchkey[^a-z0-9]")
      -- A server may drop the fields that `Connection` names, and so those that say who calls.
      or (name == "connection" and all:match("latchkey"))
      -- Over h2c the server would accept requests that nothing has asked about.
      or (name == "upgrade" and all ~= "websocket")
    if is_forged then txn.http:req_del_header(name) end
    if not NOT_ASKED[name] and not is_ours and not is_forged then headers[name] = list end
  end
  if count > MOST_FIELDS then
    local reply = txn:reply()
    reply:set_status(431)
    txn:done(reply)
  end
  headers["x-forwarded-method"] = { txn.f:method() }
  headers["x-forwarded-proto"] = { "https" }
  headers["x-forwarded-host"] = { txn.f:req_hdr("host") }
  headers["x-forwarded-uri"] = { txn.f:pathq() }

  local answer = core.httpclient():get{ url = VERIFY, headers = headers, timeout = 5000 }
  if answer ~= nil and answer.status == 200 then
    for name, values in pairs(answer.headers) do
      if name:match("^x%-latchkey%-") then txn.http:req_set_header(name, values[0]) end
    end
    -- The server must not be able to use the session of its users.
    txn.http:req_del_header("cookie")
    for _, cookie in ipairs(cookies) do
      local kept = without_own_cookies(cookie)
      if kept ~= "" then txn.http:req_add_header("cookie", kept) end
    end
    -- The configuration denies requests without it: HAProxy continues with a request whose script has failed.
    txn:set_var("txn.latchkey_may_pass", true)
    return
  end

  local reply = txn:reply()
  if answer == nil or answer.status == nil or answer.status < 300 then
    reply:set_status(503)
    txn:done(reply)
  end
  reply:set_status(answer.status)
  for name, values in pairs(answer.headers) do
    if not NOT_ASKED[name] then
      for _, value in pairs(values) do reply:add_header(name, value) end
    end
  end
  reply:set_body(answer.body or "")
  txn:done(reply)
end)
