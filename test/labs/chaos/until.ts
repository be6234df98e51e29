const LOOK_MS = 20

/**
 * Polls a condition in real time, since other processes fulfil it.
 *
 * @param capMs Generous time limit.
 * @param lookMs Time between two looks.
 * @throws After the limit, with `what` in the message.
 */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  capMs = 120_000,
  lookMs: number = LOOK_MS,
): Promise<void> {
  const since = Date.now()
  while (!(await isTrue())) {
    if (Date.now() - since > capMs) throw new Error(`not within ${capMs} ms: ${what}`)
    await passing(lookMs)
  }
}

/** Waits in real time, for the duration of a fault. */
export function passing(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
