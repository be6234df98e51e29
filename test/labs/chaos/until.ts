const LOOK_MS = 20

/**
 * Polls a condition in real time, since other processes fulfil it.
 *
 * @param capMs Generous time limit.
 * @throws After the limit, with `what` in the message.
 */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>, capMs = 120_000): Promise<void> {
  const since = Date.now()
  while (!(await isTrue())) {
    if (Date.now() - since > capMs) throw new Error(`not within ${capMs} ms: ${what}`)
    await passing(LOOK_MS)
  }
}

/** Waits in real time, for the duration of a fault. */
export function passing(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
