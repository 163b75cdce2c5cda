-- Moves the rebuild of a shard to another phase, and locks or unlocks the shard for writes.
--
-- KEYS    1 rebuild state (hash)   2 users (hash, with the schema fingerprint)   3 index
--         4 users of the shadow (hash)   5 outbox of the journal (stream)   6 archived boards (set)
-- ARGV    1 string: id of this run   2 string: current phase   3 string: next phase
--         4 '1' to keep the audit log; used when the next phase is 'delete'   5 integer: now, Unix ms
--         6 string: the fingerprint of the version before, whose data the rebuild converts
-- Returns { phase, fingerprint as stored before }: the phase is nil if another run owns the rebuild.
--         If it is not ARGV[3], nothing was changed, because the current phase or the stored
--         fingerprint is another.
-- State   idempotent. No expiry. On the way to 'rename' the rules of a recount become an entry of the journal.
-- Example EVAL text 6 {ar:0}r {ar:0}p {ar:0}1i {ar:0}~p {ar:0}o {ar:0}a 7f3a replay held 0 1795132800000 'v4 ...'
--
-- Phases: replay -> held -> delete -> rename; back from held to replay; drop from any phase before
-- delete. From held to held, locks writes if the store refused that before. In held, delete and rename
-- the stored fingerprint is 'rebuilding ' .. fingerprint, by which the service rejects or queues writes.
-- 'had' remembers the fingerprint before, '' for none.

-- Fields of the hash of users. A shard after the last one: the last entry from there that was applied.
local FINGERPRINT, WATCHED, SHARDS = '\t', '\t#', 64

-- Returns the id of the last entry of the outbox, which may have been drained; nil if there was none.
local function last_id()
  local info = redis.pcall('XINFO', 'STREAM', KEYS[5])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      return info[i + 1]
    end
  end
end

-- Returns an id after all of the outbox.
local function next_id()
  local ms, sequence = string.match(last_id() or '0-0', '^(%d+)%-(%d+)$')
  if tonumber(ms) < tonumber(ARGV[5]) then
    return ARGV[5] .. '-0'
  end
  return ms .. '-' .. string.format('%.0f', sequence + 1)
end

local owner, phase, fingerprint, had, rules, id =
  unpack(redis.call('HMGET', KEYS[1], 'owner', 'phase', 'stamp', 'had', 'rules', 'id'))
local stored = redis.call('HGET', KEYS[2], FINGERPRINT)
local locked = 'rebuilding ' .. tostring(fingerprint)
local to = ARGV[3]
if owner ~= ARGV[1] then
  return { false, stored }
elseif phase ~= ARGV[2] then
  return { phase, stored }
end

if to == 'held' then
  local is_former = stored and string.match(stored, '^[^\n]*') == ARGV[6]
  if stored and stored ~= fingerprint and stored ~= locked and not is_former then
    return { phase, stored }
  elseif stored ~= locked then
    -- The phase first: only in this phase, writes are unlocked again.
    redis.call('HSET', KEYS[1], 'had', stored or '', 'phase', to)
    redis.call('HSET', KEYS[2], FINGERPRINT, locked)
  end
elseif phase == 'held' and to ~= 'delete' and stored == locked then
  if had ~= '' then
    redis.call('HSET', KEYS[2], FINGERPRINT, had)
  else
    redis.call('HDEL', KEYS[2], FINGERPRINT)
  end
elseif to == 'delete' then
  if stored ~= locked then
    return { phase, stored }
  end
  -- From this phase on, the swap will complete: the journal will have the recount, with this id.
  redis.call('HSET', KEYS[1], 'audit', ARGV[4], 'id', rules and rules ~= '' and next_id() or '', 'phase', to)
  return { to, stored }
elseif to == 'rename' then
  -- Writes are locked: the last entry is that of the recount if an earlier attempt has added it.
  if id and id ~= '' and last_id() ~= id then
    redis.call('XADD', KEYS[5], id, 'did', 'rules', 'now', ARGV[5], 'rules', rules)
  end
  -- The swap renames the users of the shadow, which must lock writes too. Without the watched boards, no
  -- activity would wake the objects of live boards. Without the positions, others would receive twice; those of the
  -- shadow are of the replay.
  redis.call('HSET', KEYS[4], FINGERPRINT, locked, WATCHED, redis.call('HGET', KEYS[2], WATCHED) or '')
  for from = 0, SHARDS - 1 do
    local field = WATCHED .. from
    local position = redis.call('HGET', KEYS[2], field)
    if position then
      redis.call('HSET', KEYS[4], field, position)
    else
      redis.call('HDEL', KEYS[4], field)
    end
  end
  -- The version before stored keys of archived boards.
  for _, key in ipairs(redis.call('SMEMBERS', KEYS[6])) do
    local name = string.match(key, '^{[^}]*}b(.+)$')
    if name then
      redis.call('SADD', KEYS[6], name)
      redis.call('SREM', KEYS[6], key)
    end
  end
  -- The swap adds each board to the index again.
  redis.call('DEL', KEYS[3])
end
redis.call('HSET', KEYS[1], 'phase', to)
return { to, stored }
