-- Completes the rebuild of a shard: adds spans of histories to the index and unlocks writes.
--
-- KEYS    1 rebuild state (hash)   2 users (hash, with the schema fingerprint)   3 index
--         4 index of the shadow   5.. other keys to delete: of the shadow, and the progress of jobs
-- ARGV    1 string: id of this run   2 integer: latest expiry of a span in the index, Unix s
--         3 '1' if the deployment's journal has any entry: then every shard has a fingerprint
-- Returns 1, or 0 if another run owns the rebuild or the phase is another: then nothing is changed
-- State   the fingerprint is stored if it was before or ARGV[3] is '1'; else it is deleted. The shadow
--         is deleted. The state remains for a day with the phase 'done', so that a run resumed for
--         other shards skips this one.
-- Example EVAL text 5 {ar:0}r {ar:0}p {ar:0}1i {ar:0}~1i {ar:0}~a 7f3a 1800576000 1

-- Field of the hash of users.
local FINGERPRINT = '\t'

local owner, phase, fingerprint, had =
  unpack(redis.call('HMGET', KEYS[1], 'owner', 'phase', 'stamp', 'had'))
if owner ~= ARGV[1] or phase ~= 'rename' then
  return 0
end
local names = redis.call('ZRANGE', KEYS[4], 0, -1, 'WITHSCORES')
for i = 1, #names, 2 do
  -- The swap has added boards, which begin with a letter.
  if not string.find(names[i], '^%a') then
    local expiry = math.min(tonumber(names[i + 1]), tonumber(ARGV[2]))
    redis.call('ZADD', KEYS[3], string.format('%.0f', expiry), names[i])
  end
end
if had ~= '' or ARGV[3] == '1' then
  redis.call('HSET', KEYS[2], FINGERPRINT, fingerprint)
else
  redis.call('HDEL', KEYS[2], FINGERPRINT)
end
for i = 4, #KEYS do
  redis.call('UNLINK', KEYS[i])
end
redis.call('HSET', KEYS[1], 'phase', 'done')
redis.call('EXPIRE', KEYS[1], 86400)
return 1
