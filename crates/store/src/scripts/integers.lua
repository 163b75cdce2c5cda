-- The score of the order counter of a board of content or of authors is this fraction of it: scores are whole
-- points, and the counter ranks below all of them.
local FRACTION = 2 ^ -32

-- Returns a whole number for the score of the order counter of a board, another one for each score. That of a
-- board of members is a whole number until the last order number, and has up to 37 bits of a fraction after it.
local function order_of(score)
  return score < 1 and score / FRACTION or math.floor(score) + score % 1 * 2 ^ 37
end

-- Formats an integer. tostring() loses digits from 1e14 on.
local function digits(n)
  return string.format('%d', n)
end
