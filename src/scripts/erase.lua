-- Erases a user from boards, profiles and everything of their own.
--
-- KEYS  1 stamp   2 profiles (hash)   3.. boards (zset), then keys that are the user's alone
-- ARGV  1 stamp, what this configuration would stamp   2 user   3 how many boards
-- Call  EVALSHA sha 5 {ar:0}s {ar:0}p {ar:0}bd:2026-11-20 {ar:0}ba:all {ar:0}m:42 'v1 ...' 42 2
-- Reply { stamp held }: another than ARGV 1 means that nothing was changed.
-- State who is left keeps points and order; a board keeps its counter and expiry.

local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then
  return { held }
end

local last_board = 2 + tonumber(ARGV[3])
redis.call('HDEL', KEYS[2], ARGV[2])
for i = 3, last_board do
  redis.call('ZREM', KEYS[i], ARGV[2])
end
for i = last_board + 1, #KEYS do
  redis.call('UNLINK', KEYS[i])
end
return { ARGV[1] }
