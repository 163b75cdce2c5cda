-- Writes profiles, each replacing the one before, and hides who asks for it.
--
-- KEYS  1 stamp   2 index (zset)   3 flags (hash: user -> 'flags,subject')   4 audit list (stream)
--       5 who and why (hash)   6 profiles (hash: user -> JSON)   7 outbox of the journal (stream)
--       8.. boards (zset)
-- ARGV  1 stamp, what this configuration would stamp   2 now, Unix ms   3 '1' to write what changes to the outbox
--       4.. user, JSON, '1' to be hidden, '0' to be seen, '' to stay as they are; and so on
-- Call  EVALSHA sha 7 {ar:0}s {ar:0}i {ar:0}f {ar:0}l {ar:0}w {ar:0}p {ar:0}o
--       'v2 ...' 1795132800000 0 42 '{"name":"Ada"}' ''
-- Reply { stamp held, boards, hidden }
--       boards  none, or all that the index names because the call lacked one: nothing was
--               changed; call again with them
--       hidden  for each profile 1 where the user hides themself, else 0
--       A stamp other than ARGV 1 comes back alone: nothing was changed.
-- State profiles and flags do not expire.

local held_stamp = redis.call('GET', KEYS[1])
if held_stamp and held_stamp ~= ARGV[1] then
  return { held_stamp }
end
local audit = { flags = KEYS[3], entries = KEYS[4], who = KEYS[5], now = ARGV[2], reason = '' }
local outbox = ARGV[3] == '1' and KEYS[7] or nil
redis.call('HLEN', KEYS[6])
check_outbox(outbox)

-- Whether users hide themselves afterwards, and of whom that changes what others see.
local hides, changed, turned = {}, {}, {}
for i = 4, #ARGV, 3 do
  local user, asked = ARGV[i], ARGV[i + 2]
  if hides[user] == nil then
    hides[user] = string.find(read_flags(audit, user), 's') ~= nil
  end
  if asked ~= '' and (asked == '1') ~= hides[user] then
    hides[user] = asked == '1'
    changed[user] = not changed[user] or nil
    if not string.find(read_flags(audit, user), 'h') then
      turned[user] = hides[user]
    end
  end
end
local turns = {}
if next(turned) then
  local boards = missing_boards(KEYS[2], 8)
  if boards then
    return { ARGV[1], boards, {} }
  end
  turns = turns_of(turned, 8)
end
if next(changed) then
  check_audit(audit)
end

-- Nothing is refused from here on.
if not held_stamp then
  redis.call('SET', KEYS[1], ARGV[1])
end
local hidden = {}
for i = 4, #ARGV, 3 do
  local user, json, turned_to = ARGV[i], ARGV[i + 1], ''
  local same = outbox and redis.call('HGET', KEYS[6], user) == json
  redis.call('HSET', KEYS[6], user, json)
  hidden[#hidden + 1] = hides[user] and 1 or 0
  if changed[user] then
    changed[user] = nil
    write_audit(audit, user, { hides[user] and 'opt-out' or 'opt-in' })
    local flags, subject = read_flags(audit, user)
    -- In one order: h, s, f.
    local has = function(flag)
      return string.find(flags, flag) and flag or ''
    end
    flags = has('h') .. (hides[user] and 's' or '') .. has('f')
    redis.call('HSET', KEYS[3], user, flags .. ',' .. subject)
    turned_to = hides[user] and '1' or '0'
  end
  if not same or turned_to ~= '' then
    write_outbox(outbox, 'profile', 'now', audit.now, 'user', user, 'json', json, 'hidden', turned_to)
  end
end
turn(turns)
return { ARGV[1], {}, hidden }
