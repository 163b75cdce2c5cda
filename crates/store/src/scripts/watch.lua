-- Registers a board as watched: count.lua and adjust.lua return the registrations, and the Worker wakes the object of
-- a board that the call may have changed.
--
-- KEYS    1 users (hash)
-- ARGV    1 string: name of the board, 'd:2026-11-20:eu'
--         2 integer: seconds until the registration expires; 0 to remove it
-- Returns 1, or 0 if too many other boards are registered
-- State   The field holds the name and the expiry (Unix s) of each board, between spaces: every counting
--         call reads it, so it stays short. Expired registrations are removed.
-- Example EVALSHA sha 1 {ar:0}p d:2026-11-20 43200

-- Boards registered at a time.
local MOST = 100

local now = redis.call('TIME')[1]
local boards = {}
for name, expiry in string.gmatch(redis.call('HGET', KEYS[1], WATCHED) or '', '(%S+) (%d+)') do
  if name ~= ARGV[1] and expiry - now > 0 then
    boards[#boards + 1] = name .. ' ' .. expiry
  end
end
if ARGV[2] ~= '0' then
  if #boards >= MOST then
    return 0
  end
  boards[#boards + 1] = ARGV[1] .. ' ' .. digits(now + ARGV[2])
end
if #boards > 0 then
  redis.call('HSET', KEYS[1], WATCHED, table.concat(boards, ' '))
else
  redis.call('HDEL', KEYS[1], WATCHED)
end
return 1
