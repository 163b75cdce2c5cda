-- The layout of scores, as in score.rs: points * ORDERS + (ORDERS - 1 - order). Precedes the scripts that write
-- scores. The schema fingerprint of the caller, ARGV[1], names the bits of the order unless they are 30.
local ORDERS = 2 ^ (string.match(ARGV[1], ' order_bits=(%d+)') or 30)
local MAX_POINTS = 2 ^ 53 / ORDERS - 1

-- Returns the score of the order counter of a board after a change, as text. After the last order number it moves by the
-- smallest steps of a float, and never stays: it shows every change of the board.
local function next_counter(score)
  if score < ORDERS - 1 then
    return digits(score + 1)
  end
  return string.format('%.17g', ORDERS - 1 + (score + ORDERS / 2 ^ 53) % 1)
end
