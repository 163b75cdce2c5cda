-- Moves the rebuild of a shard to another phase, and locks or unlocks the shard for writes.
--
-- KEYS    1 rebuild state (hash)   2 schema fingerprint   3 index
-- ARGV    1 string: id of this run   2 string: current phase   3 string: next phase
--         4 '1' to keep the audit log; used when the next phase is 'delete'
-- Returns { phase, fingerprint as stored before }: the phase is nil if another run owns the rebuild.
--         If it is not ARGV[3], nothing was changed, because the current phase or the stored
--         fingerprint is another.
-- State   idempotent. No expiry.
-- Example EVAL text 3 {ar:0}r {ar:0}s {ar:0}i 7f3a replay held 0
--
-- Phases: replay -> held -> delete -> rename; back from held to replay; drop from any phase before
-- delete. From held to held, locks writes if the store refused that before. In held, delete and rename
-- the stored fingerprint is 'rebuilding ' .. fingerprint, by which the service rejects or queues writes.
-- 'had' remembers whether there was a fingerprint before.

local owner, phase, fingerprint, had =
  unpack(redis.call('HMGET', KEYS[1], 'owner', 'phase', 'stamp', 'had'))
local stored = redis.call('GET', KEYS[2])
local locked = 'rebuilding ' .. tostring(fingerprint)
local to = ARGV[3]
if owner ~= ARGV[1] then
  return { false, stored }
elseif phase ~= ARGV[2] then
  return { phase, stored }
end

if to == 'held' then
  if stored and stored ~= fingerprint and stored ~= locked then
    return { phase, stored }
  elseif stored ~= locked then
    -- The phase first: only in this phase, writes are unlocked again.
    redis.call('HSET', KEYS[1], 'had', stored and '1' or '0', 'phase', to)
    redis.call('SET', KEYS[2], locked)
  end
elseif phase == 'held' and to ~= 'delete' and stored == locked then
  if had == '1' then
    redis.call('SET', KEYS[2], fingerprint)
  else
    redis.call('DEL', KEYS[2])
  end
elseif to == 'delete' then
  if stored ~= locked then
    return { phase, stored }
  end
  redis.call('HSET', KEYS[1], 'audit', ARGV[4])
elseif to == 'rename' then
  -- The swap adds each board to the index again.
  redis.call('DEL', KEYS[3])
end
redis.call('HSET', KEYS[1], 'phase', to)
return { to, stored }
