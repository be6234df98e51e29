import type { AttemptResult } from './attempt-delivery.ts'
import type { Sending } from './sending.ts'

/** What one `Worker.runDue` did. What was put back unsent is not counted. */
export interface RunDueResult {
  /** Sent, retried and failed ones, and those whose lease went to another. */
  readonly attempted: number
  readonly sent: number
  readonly retried: number
  readonly failed: number
  readonly skipped: number
  readonly expired: number
}

/**
 * Sends until nothing is due that may be begun, and nothing that it began is being sent. After a stop, or when the store has
 * thrown, it begins nothing more.
 */
export async function runDue(sending: Sending): Promise<RunDueResult> {
  const { life } = sending
  const counts: Record<AttemptResult, number> = { sent: 0, retried: 0, failed: 0, skipped: 0, released: 0, lost: 0 }
  const faults: unknown[] = []
  const told: Promise<void>[] = []
  let expired = 0
  let open = 0
  let ended = 0

  function watch(attempt: Promise<AttemptResult>): void {
    const end = (note: () => void): void => {
      note()
      open--
      ended++
    }
    open++
    attempt.then(
      (result) => end(() => counts[result]++),
      (cause) => end(() => faults.push(cause)),
    )
  }

  for (;;) {
    const before = ended
    const mayClaim = sending.life === life && faults.length === 0
    if (mayClaim) {
      const found = await sending.claim(life, watch).catch((cause: unknown) => void faults.push(cause))
      expired += found?.expired ?? 0
      if (found) told.push(found.told)
      if (!found || found.isMore || ended !== before) continue
    }
    const freeInMs = mayClaim ? sending.freeInMs() : undefined
    if (open === 0 && freeInMs === undefined) break
    await sending.pause(freeInMs)
  }
  await Promise.all(told)
  if (faults.length > 0) throw faults[0]
  const { sent, retried, failed, skipped, lost } = counts
  return { attempted: sent + retried + failed + lost, sent, retried, failed, skipped, expired }
}
