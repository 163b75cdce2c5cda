// Whether the platform lets one more through under a key.
export async function lets_through(limiter, key) {
  const { success } = await limiter.limit({ key });
  return success;
}
