-- Counts who ranks above a score, on boards of another shard than that of the score.
--
-- KEYS  1 stamp   2.. boards (zset)
-- ARGV  for each count: number of the board, from 1; the least score above, '12' or above '(12'
-- Call  EVALSHA sha 2 {ar:3}s {ar:3}bd:2026-11-20 1 '(5368709119'
-- Reply { stamp or nil, counts }
-- State unchanged. Every score that is asked about is over the order counter '#'.

local counts = {}
for i = 1, #ARGV, 2 do
  counts[#counts + 1] = redis.call('ZCOUNT', KEYS[tonumber(ARGV[i]) + 1], ARGV[i + 1], '+inf')
end
return { redis.call('GET', KEYS[1]), counts }
