-- Whether boards hide a user. Precedes the scripts that read profiles of users who have no rank.

-- `flags` is the hash user -> 'flags,subject'; h hidden by a moderator, s opted out, f frozen.
local function is_hidden(flags, user)
  local letters = string.match(redis.call('HGET', flags, user) or '', '^%a*')
  return string.find(letters, '[hs]') ~= nil
end
