-- Runs a batch of write commands of a restore, if the restore still owns the shard.
--
-- KEYS    1 users (hash, with the schema fingerprint)   2.. other keys that the batch writes
-- ARGV    1 string: the claim of this restore, stored as the fingerprint
--         2.. commands, each as: name, index of its key in KEYS, number of arguments, arguments
-- Returns 1, or 0 if the fingerprint is anything but the claim: then nothing is written
-- State   idempotent: a repeated batch leaves the same data. Expiry is set only by commands of the batch.
--         A delayed duplicate finds the final fingerprint instead of the claim and writes nothing.
-- Example EVAL text 2 {ar:0}p {ar:0}1m:42 'restoring ...' HSET 2 2 like:post-7 1795132800000,2,2026-11-20,dwmya

-- Field of the hash of users.
local FINGERPRINT = '\t'

if redis.call('HGET', KEYS[1], FINGERPRINT) ~= ARGV[1] then
  return 0
end
local cursor = 2
while ARGV[cursor] do
  local name, key, count = ARGV[cursor], KEYS[tonumber(ARGV[cursor + 1])], tonumber(ARGV[cursor + 2])
  local reply = redis.pcall(name, key, unpack(ARGV, cursor + 3, cursor + 2 + count))
  if type(reply) == 'table' and reply.err then
    -- A repeated batch finds its stream entries already present.
    if name ~= 'XADD' or not string.find(reply.err, 'equal or smaller', 1, true) then
      return reply
    end
  end
  cursor = cursor + 3 + count
end
return 1
