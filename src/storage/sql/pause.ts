/** At first hardly any: who is in the way is soon through. */
const LONGEST_MS = 20

/** Leaves it to chance who of several comes first the next time. */
export async function pause(tries: number): Promise<void> {
  const ms = Math.random() * Math.min(tries, LONGEST_MS)
  await new Promise<void>((resolve) => void setTimeout(resolve, ms))
}
