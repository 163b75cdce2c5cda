-- The score of the order counter of a board of content or of authors is this fraction of it: scores are whole
-- points, and the counter ranks below all of them.
local FRACTION = 2 ^ -32

-- Formats an integer. tostring() loses digits from 1e14 on.
local function digits(n)
  return string.format('%d', n)
end
