-- Names the fields of the hash of users, the first key of every script. Precedes every script.
--
-- '\t'           schema fingerprint, then a line for each pending change: pending.lua
-- user           profile, JSON
-- '!' .. user    'flags,subject,accounts': h hidden by a moderator, s opted out, f frozen; number in the audit log;
--                '>2 9' of the second account that member 9 has had, '3 1=42 3=77' of a member who has had three accounts
--                and has two. Exclusions follow: '0a4d55a8d778/1795132800000//17': by case 17, the member gives nothing to
--                the one with this SHA-1 (12 digits) from an instant on (Unix ms), until another one or for ever
-- '~' .. user    pauses, such as '2026-12-20/2027-01-03,2027-02-01/2027-02-01': first and last day of each
-- '\t#'          watched boards: watch.lua
-- '\t#3'         id of the last entry of shard 3 that was applied here: receive.lua
-- '\t!'          definitions of the events that are not final, and of versions of the rules: define.lua
--
-- Flags belong to a participant: a user, or a target as a tab and its member. No user id contains a tab, '!', '~'
-- or '#'.

local FINGERPRINT, FLAGS, PAUSES, WATCHED, DEFINITIONS = '\t', '!', '~', '\t#', '\t!'

-- Registration of a target: 'number;instant;authorship;author;JSON': its number, from 1, after the shard and a dot
-- if there are several; its instant, Unix ms; how many authors it has had; author, or nothing; what boards show.
local REGISTRATION = '^([%d.]+);(%d+);(%d+);([^;]*);(.*)$'

-- Returns what flags say of accounts, or ''.
local function accounts_of(flags)
  return string.match(flags or '', '^%a*,%d*,(.+)$') or ''
end

-- Returns whether boards hide a participant with these flags.
local function is_hidden(flags)
  return string.find(flags or '', '^%a*[hs]') ~= nil
end
