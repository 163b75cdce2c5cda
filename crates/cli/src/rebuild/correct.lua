-- Keeps boards for the archive that Redis no longer has, as a rebuild has counted them.
--
-- KEYS    1 rebuild state (hash)   2 index (sorted set) of the generation that is written   3.. for each board its key in that
--         generation, and the key that keeps it
-- ARGV    1 string: id of this run   2 integer: a key with a longer TTL in ms has expired   3 integer: TTL in ms of a kept board
-- Returns 1, or 0 if another run owns the rebuild
-- State   idempotent. A board that has lost all members is kept empty, also if Redis had it. sweep.lua adds to the index.
-- Example EVAL text 4 {ar:0}r {ar:0}2i {ar:0}2bd:2026-01-01 '{ar:0}2bd:2026-01-01<tab>' 7f3a 3600000000000 604800000

if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then
  return 0
end
for i = 3, #KEYS, 2 do
  local board, kept = KEYS[i], KEYS[i + 1]
  if redis.call('EXISTS', kept) == 0 then
    local ttl = redis.call('PTTL', board)
    if ttl == -2 then
      redis.call('ZADD', kept, 0, '#')
    elseif ttl > tonumber(ARGV[2]) then
      redis.call('RENAME', board, kept)
      redis.call('ZREM', KEYS[2], string.sub(board, #KEYS[2] + 1))
    end
  end
  redis.call('PEXPIRE', kept, ARGV[3])
end
return 1
