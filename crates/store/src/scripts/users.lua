-- Names the fields of the hash of users, the first key of every script. Precedes every script.
--
-- '\t'           schema fingerprint, then a line for each pending change: pending.lua
-- user           profile, JSON
-- '!' .. user    'flags,subject': h hidden by a moderator, s opted out, f frozen; number in the audit log
-- '\t' .. user   undo log of a call: restore.lua. That of a target is '\t\t' .. its member
-- '\t#'          watched boards: watch.lua
--
-- No user id contains a tab, '!' or '#'.

local FINGERPRINT, FLAGS, UNDO_LOG, WATCHED = '\t', '!', '\t', '\t#'

-- Returns whether boards hide a user with these flags.
local function is_hidden(flags)
  return string.find(flags or '', '^%a*[hs]') ~= nil
end
