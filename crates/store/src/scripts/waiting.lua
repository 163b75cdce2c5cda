-- Removes deliveries to other shards that have been applied there, and reads the next ones: count_receive.lua.
--
-- KEYS    1 users (hash)   2 deliveries (stream)
-- ARGV    1 integer: limit, or 0 to read none   2.. ids of applied deliveries
-- Returns { fingerprint or nil, entries, logs }
--         logs  { participant, undo log } if the next delivery belongs to a call that the store refused in the
--               middle: run recover.lua, which removes it
-- Example EVALSHA sha 2 {ar:3}p {ar:3}x 200 1795132800000-0

if ARGV[2] then
  redis.call('XDEL', KEYS[2], unpack(ARGV, 2))
end
local entries = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', ARGV[1])
local fields = { FINGERPRINT }
for _, entry in ipairs(entries) do
  -- The last field of an entry names its participant.
  fields[#fields + 1] = UNDO_LOG .. entry[2][#entry[2]]
end
local values = redis.call('HMGET', KEYS[1], unpack(fields))
local complete, logs = {}, {}
for i, entry in ipairs(entries) do
  local participant, log = entry[2][#entry[2]], values[i + 1]
  if participant ~= '' and log and log ~= '' then
    logs[1] = { participant, log }
    break
  end
  complete[i] = entry
end
return { values[1], complete, logs }
