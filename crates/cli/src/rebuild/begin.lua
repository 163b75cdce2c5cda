-- Starts the rebuild of a shard, or takes over an unfinished one.
--
-- KEYS    1 rebuild state (hash)   2 users (hash, with the schema fingerprint)
-- ARGV    1 string: id of this run, the new owner
--         2 string: purpose: '', 'preview', 'import' and the file, or of a recount as JSON the rules, or event, definition
--         and its line
--         3 integer: generation of the data, 0 for that of the version before   4 string: its fingerprint
-- Returns { phase, entry and purpose that the rebuild was started for, generation of the data, generation that the rebuild
--         writes, 1 if it has started now }, all strings but the last
-- State   of a recount of accounts, the state has the number of the last entry that it reads: `GET` of accounts shows how far it
--         is. The former owner's next script finds another owner and does nothing. No expiry. Without a fingerprint, ARGV[4] is
--         stored: no writer can begin another generation meanwhile, nor one of other settings.
-- Example EVAL text 2 {ar:0}r {ar:0}p 7f3a '' 1 'v4 generation=1 shards=1 ...'

-- Field of the hash of users.
local FINGERPRINT = '\t'

local is_new = redis.call('HEXISTS', KEYS[1], 'phase') == 0 and 1 or 0
if is_new == 1 then
  local claimed, written = redis.call('HSETNX', KEYS[2], FINGERPRINT, ARGV[4]), string.format('%.0f', ARGV[3] + 1)
  -- In one command: the store may refuse the next one.
  redis.call('HSET', KEYS[1], 'phase', 'replay', 'entry', '0', 'rules', ARGV[2], 'from', ARGV[3], 'generation', written,
    'claimed', claimed, 'until', string.match(ARGV[2], '^accounts {"until":(%d+)') or '')
end
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
local state = redis.call('HMGET', KEYS[1], 'phase', 'entry', 'rules', 'from', 'generation')
state[6] = is_new
return state
