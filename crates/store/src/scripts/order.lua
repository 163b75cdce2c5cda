-- The score of the order counter of a board of content or of authors is this fraction of it: scores are whole
-- points, and the counter ranks below all of them.
local FRACTION = 2 ^ -32

-- Returns a whole number for the score of the order counter of a board, another one for each score. That of a
-- board of members is a whole number until the last order number, and has up to 37 bits of a fraction after it.
local function order_of(score)
  return score < 1 and score / FRACTION or math.floor(score) + score % 1 * 2 ^ 37
end

-- Returns the score of the order counter of a board of content or of authors after a change.
local function next_plain_counter(score)
  return (score + FRACTION) % 1
end

-- Formats the score of an order counter.
local function counter_text(score)
  return string.format('%.17g', score)
end
