-- Lets the generation that a rebuild has written count, if the journal has had everything; else says up to where it is
-- to be read, and may pause the writers meanwhile.
--
-- KEYS    1 rebuild state (hash)   2 users (hash)   3 stream of changes   4 progress of jobs (hash)
--         5 pending changes (hash)   6 archived boards (set)   7 and 8 register of the present and of the new generation
--         9 to 11 audit log, opt-outs, and subjects and reasons   12 to 14 the same as the rebuild has written them
--         15 users as the rebuild has written them (hash)   16 on the first shard: events (hash)
-- ARGV    1 string: id of this run   2 string: stored fingerprint   3 string: the same with the new generation
--         4 string: id of the last entry of the stream that the rebuild has read; '' if none has been read
--         5 string: fingerprint to store with a pause, '' to pause nobody   6 integer: now, Unix ms
--         7 string: letters: 'l' to replace the audit log by that of the rebuild, 'f' for data of the version before
--         8.. for each restored flag: field, value as compared, and value to store, as in restore.lua
-- Returns 'swapped', also if it was before; 'lost' if another run owns the rebuild; { fingerprint } if another one is
--         stored; or the id of the last entry of the stream: then nothing was changed but the fingerprint with a pause
-- State   The rules of a recount, the definition of its event, or what one of accounts has decided, become an entry of the stream. The jobs have completed
--         nothing on the new generation. If the store refuses a write after that counts, the next call does the rest.
-- Example EVAL text 16 {ar:0}r {ar:0}p {ar:0}o {ar:0}j {ar:0}c {ar:0}a {ar:0}1t {ar:0}2t {ar:0}l {ar:0}n {ar:0}w {ar:0}2l
--         {ar:0}2n {ar:0}2w {ar:0}2p {ar:0}v 7f3a 'v4 generation=1 ...' 'v4 generation=2 ...' 1795132800000-0 '' 1795132800000 ''

-- Fields of the hash of users.
local FINGERPRINT, DEFINITIONS = '\t', '\t!'
-- Flags that are restored in the command of the swap.
local CHUNK = 500

local owner, phase, purpose, letters = unpack(redis.call('HMGET', KEYS[1], 'owner', 'phase', 'rules', 'letters'))
if owner ~= ARGV[1] then
  return 'lost'
elseif phase ~= 'replay' then
  return 'swapped'
end
local stored = redis.call('HGET', KEYS[2], FINGERPRINT)

-- The event of a recount, its definition as JSON, and the line that the counting script reads.
local event, json, line
if string.sub(purpose, 1, 1) == '[' then
  event, json, line = unpack(cjson.decode(purpose))
end

-- Returns the definitions of events with the new line. They have a new number, unless another shard's are known already.
local function new_definitions()
  local known = redis.call('HGET', KEYS[2], DEFINITIONS) or ''
  local written = redis.call('HGET', KEYS[15], DEFINITIONS)
  if string.find(known .. '\n', '\n' .. line .. '\n', 1, true) then
    return written
  end
  local number, lines = string.match(written, '^(%d+)(.*)$')
  return string.format('%.0f', math.max(tonumber(ARGV[6]), tonumber(number) + 1)) .. lines
end

-- Returns the value of a restored flag, false to delete it, or nil if it has changed or is restored already.
local function value_to_store(i)
  local seen, new = cjson.decode(ARGV[i + 1])[1], cjson.decode(ARGV[i + 2])[1]
  if (redis.call('HGET', KEYS[2], ARGV[i]) or nil) == seen then
    return new or false
  end
end

-- Lets the new generation count, by one command that also restores flags. Returns what the caller gets instead.
local function replace()
  if stored ~= ARGV[2] and stored ~= ARGV[5] then
    return { stored }
  end
  -- The stream may have been drained.
  local last, info = '0-0', redis.pcall('XINFO', 'STREAM', KEYS[3])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      last = info[i + 1]
    end
  end
  if last ~= ARGV[4] then
    if ARGV[5] ~= '' then
      redis.call('HSET', KEYS[2], FINGERPRINT, ARGV[5])
    end
    return last
  end
  local fields = { FINGERPRINT, ARGV[3] }
  for i = 8, math.min(#ARGV, 8 + 3 * CHUNK), 3 do
    local new = value_to_store(i)
    if new then
      fields[#fields + 1], fields[#fields + 2] = ARGV[i], new
    end
  end
  letters = ARGV[7]
  redis.call('HSET', KEYS[1], 'letters', letters)
  local id
  if event then
    local definitions = new_definitions()
    fields[#fields + 1], fields[#fields + 2] = DEFINITIONS, definitions
    id = redis.call('XADD', KEYS[3], '*', 'did', 'event', 'now', ARGV[6], 'event', event, 'json', json, 'definitions',
      definitions, 'recount', '1')
  elseif string.find(purpose, '^{') then
    id = redis.call('XADD', KEYS[3], '*', 'did', 'rules', 'now', ARGV[6], 'rules', purpose)
  elseif string.find(purpose, '^accounts ') then
    id = redis.call('XADD', KEYS[3], '*', 'did', 'accounts', 'now', ARGV[6], 'accounts', string.sub(purpose, 10))
  end
  local reply = redis.pcall('HSET', KEYS[2], unpack(fields))
  if type(reply) == 'table' then
    if id then
      redis.call('XDEL', KEYS[3], id)
    end
    error(reply.err, 0)
  end
end

-- An attempt whose later writes the store has refused may have done it.
local refused = stored ~= ARGV[3] and replace()
if refused then
  return refused
end

if event and KEYS[16] then
  redis.call('HSET', KEYS[16], event, json)
end
for i = 8, #ARGV, 3 do
  local new = value_to_store(i)
  if new then
    redis.call('HSET', KEYS[2], ARGV[i], new)
  elseif new == false then
    redis.call('HDEL', KEYS[2], ARGV[i])
  end
end
-- A number of a registration is never used again: the journal may lack the last ones.
local given = tonumber(redis.call('HGET', KEYS[7], '#') or 0)
if given > tonumber(redis.call('HGET', KEYS[8], '#') or 0) then
  redis.call('HSET', KEYS[8], '#', string.format('%.0f', given))
end
for i = 9, 11 do
  if string.find(letters, 'l') and redis.call('EXISTS', KEYS[i + 3]) == 1 then
    redis.call('RENAME', KEYS[i + 3], KEYS[i])
  end
end
-- The version before stored keys of archived boards, and its pending changes are in the journal.
if string.find(letters, 'f') then
  redis.call('UNLINK', KEYS[5])
end
for _, key in ipairs(redis.call('SMEMBERS', KEYS[6])) do
  local name = string.match(key, '^{[^}]*}b(.+)$')
  if name then
    redis.call('SADD', KEYS[6], name)
    redis.call('SREM', KEYS[6], key)
  end
end
redis.call('UNLINK', KEYS[4])
redis.call('HSET', KEYS[1], 'phase', 'swapped')
return 'swapped'
