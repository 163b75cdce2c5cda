-- Runs calls of the service's scripts on scratch keys, in their order.
--
-- KEYS    1 users (hash)   2 register of targets (hash)   3 index (sorted set)   4.. the keys of each call, one call
--         after the other
-- ARGV    1 integer: lifetime of the keys 1 to 3, s
--         2.. for each call: name of the script; number of keys and of arguments; the arguments
-- Returns for each call: 1; of the counting script { outcomes, receipts }, or { 'records' or 'accounts', data } if it
--         requests data, or false if such a call of the same user precedes. A receipt has names and values of an entry of
--         the stream of changes, without the fields in UNUSED.
-- State   A call that requests data, and later ones of its user, change nothing: the caller sends them again. An error
--         stops the batch: the caller deletes all scratch keys then.
-- Example EVAL text 4 {ar:70}1p {ar:70}1t {ar:70}1i {ar:70}1t 86400 run 1 3 HSET post-7 '1;5;1;42;{}'
--
-- `scripts` maps names to functions of KEYS and ARGV with the text of the service's scripts, `added` lists the entries that
-- they add to streams.

local UNUSED = {
  now = true, user = true, once = true, points = true, cooldown = true, kinds = true, groups = true, applied = true,
  skipped = true, reason = true, gave = true, account = true,
}

-- Returns the receipts of the added entries, each a key, an id, then names and values.
local function receipts()
  local all = {}
  for i, entry in ipairs(added) do
    local receipt = {}
    for j = 3, #entry, 2 do
      if not UNUSED[entry[j]] then
        local n = #receipt
        receipt[n + 1], receipt[n + 2] = entry[j], entry[j + 1]
      end
    end
    all[i] = receipt
  end
  return all
end

-- Returns the result of a call of the counting script.
local function count_result(reply)
  if type(reply[2]) ~= 'table' then
    return { reply[2] or 'fingerprint', reply[3] or '' }
  end
  for _, outcome in ipairs(reply[2]) do
    if outcome[1] == 'failed' then
      error(outcome[2], 0)
    end
  end
  return { reply[2], receipts() }
end

local key, cursor, results, waiting = 3, 1, {}, {}
while ARGV[cursor + 1] do
  local name, keys, args = ARGV[cursor + 1], tonumber(ARGV[cursor + 2]), tonumber(ARGV[cursor + 3])
  cursor = cursor + 3
  local arguments, result = take(ARGV, cursor, args), 1
  local user = name == 'count' and arguments[2]
  if user and waiting[user] then
    result = false
  else
    added = {}
    local reply = scripts[name](take(KEYS, key, keys), arguments)
    if user then
      result = count_result(reply)
      waiting[user] = type(result[1]) == 'string'
    elseif reply[2] == 'failed' then
      error(reply[3], 0)
    elseif not reply[2] then
      error('another fingerprint', 0)
    end
  end
  key, cursor, results[#results + 1] = key + keys, cursor + args, result
end
for i = 1, 3 do
  redis.call('EXPIRE', KEYS[i], ARGV[1])
end
return results
