const LOOK_MS = 20

/**
 * Resolves when it is so; looks again and again, in real time, since what it waits for happens in other processes.
 *
 * @param capMs A generous one: for what never will be.
 * @throws After that, saying what was waited for.
 */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, capMs = 120_000): Promise<void> {
  const since = Date.now()
  while (!(await isSo())) {
    if (Date.now() - since > capMs) throw new Error(`not within ${capMs} ms: ${what}`)
    await passing(LOOK_MS)
  }
}

/** Real time: what a fault lasts. */
export function passing(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
