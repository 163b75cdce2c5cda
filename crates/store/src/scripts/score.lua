-- The layout of scores, as in score.rs: points * ORDERS + (ORDERS - 1 - order). Precedes the scripts that write
-- scores. The schema fingerprint of the caller, the first line of ARGV[1], names the bits of the order unless
-- they are 30.
local names_bits = string.find(ARGV[1], ' order_bits=', 1, true)
local ORDERS = 2 ^ (names_bits and string.match(ARGV[1], '^[^\n]* order_bits=(%d+)') or 30)
local MAX_POINTS = 2 ^ 53 / ORDERS - 1

-- Returns the score of the order counter of a board after a change. After the last order number it moves by the
-- smallest steps of a float, and never stays: it shows every change of the board.
local function next_counter(score, is_plain)
  if is_plain then
    return (score + FRACTION) % 1
  elseif score < ORDERS - 1 then
    return score + 1
  end
  score = score + ORDERS / 2 ^ 53
  return score < ORDERS and score or ORDERS - 1
end

-- Formats the score of an order counter.
local function counter_text(score)
  return string.format('%.17g', score)
end
