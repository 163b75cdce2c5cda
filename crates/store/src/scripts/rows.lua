-- Reads rows of a board. Precedes the scripts that return rows.
--
-- The rows of a board of content are targets: they have registrations in the place of profiles, see
-- targets.lua, and one list more, of their authors: the profile (JSON) or '', nil for none and for a hidden
-- one. Of an author on another shard neither profile nor flags are here: '', and the caller reads them.

-- Returns the stored fingerprint and the authors of some registrations.
local function read_authors(registrations)
  local fields, authors = { FINGERPRINT }, {}
  for i, registration in ipairs(registrations) do
    local _, _, _, author = string.match(registration or '', REGISTRATION)
    author = author ~= '' and author
    if author then
      fields[#fields + 1] = author
      fields[#fields + 1] = FLAGS .. author
    end
    authors[i] = author and #fields
  end
  local values = redis.call('HMGET', KEYS[1], unpack(fields))
  for i, last in ipairs(authors) do
    authors[i] = last and not is_hidden(values[last]) and (values[last - 1] or '')
  end
  return values[1], authors
end

-- Returns the stored fingerprint, and the users, the packed scores, the profiles and the authors of the rows with
-- the ranks `first` to `last` (from 0), best first; empty lists if `last` is below `first`, false for authors of
-- users. `register` is the key of the register for a board of content. For other boards also the flags of `user`.
local function read_rows(board, first, last, register, user)
  local users, scores = {}, {}
  local rows = first <= last and redis.call('ZREVRANGE', board, first, last, 'WITHSCORES') or {}
  for i = 1, #rows, 2 do
    users[#users + 1] = rows[i]
    scores[#scores + 1] = tonumber(rows[i + 1])
  end
  if register then
    local registrations = #users > 0 and redis.call('HMGET', register, unpack(users)) or {}
    local fingerprint, authors = read_authors(registrations)
    return fingerprint, users, scores, registrations, authors
  end
  local profiles = redis.call('HMGET', KEYS[1], FINGERPRINT, FLAGS .. (user or ''), unpack(users))
  local fingerprint, flags = table.remove(profiles, 1), table.remove(profiles, 1)
  return fingerprint, users, scores, profiles, false, flags
end
