/** What was read is no longer so: to be tried again from the start. */
export class Conflict extends Error {}

/** So often something is tried again: every time because another did succeed. */
const TRIES = 100
/** The longest pause. At first there is hardly any: who is in the way is soon through. */
const LONGEST_MS = 20

/** Does it again from the start for as long as others come in between. */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (cause) {
      if (!(cause instanceof Conflict) || tries >= TRIES) throw cause
      await pause(tries)
    }
  }
}

/** Leaves it to chance who of several comes first the next time. */
export async function pause(tries: number): Promise<void> {
  const ms = Math.random() * Math.min(tries, LONGEST_MS)
  await new Promise<void>((resolve) => void setTimeout(resolve, ms))
}
