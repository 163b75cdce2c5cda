-- The score of the order counter of a board of content or of authors is this fraction of it: scores are whole
-- points, and the counter ranks below all of them.
local FRACTION = 2 ^ -32

-- Returns the order counter of a board by its score: that of a board of members is a whole number.
local function order_of(score)
  return score < 1 and score / FRACTION or score
end

-- Formats an integer. tostring() loses digits from 1e14 on.
local function digits(n)
  return string.format('%d', n)
end
