import type { Attempted, AttemptResult } from './attempt-delivery.ts'
import type { ClaimOf, Found, SendLoop } from './send-loop.ts'

/** What one `Worker.runDue` did. What was put back unsent is not counted. */
export interface RunDueResult {
  /** Sent, retried and failed ones, those that were cancelled meanwhile, and those whose lease went to another. */
  readonly attempted: number
  readonly sent: number
  readonly retried: number
  readonly failed: number
  readonly skipped: number
  readonly expired: number
}

/**
 * Sends until nothing is due that may be begun, and nothing that it began is being sent. It waits for a rate when something is
 * due by the time that this lets it go. After a stop, or when the store has thrown, it begins nothing more.
 */
export async function runDue(sending: SendLoop): Promise<RunDueResult> {
  const { life } = sending
  sending.turned()
  const counts: Record<AttemptResult, number> = {
    sent: 0,
    retried: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    released: 0,
    lost: 0,
  }
  const faults: unknown[] = []
  let expired = 0
  let open = 0
  let ended = 0

  function mayClaim(): boolean {
    return sending.life === life && faults.length === 0
  }

  async function claim(of: ClaimOf): Promise<Found | undefined> {
    const found = await sending.claim(life, watch, of).catch((cause: unknown) => void faults.push(cause))
    expired += found?.expired ?? 0
    return found
  }

  function watch(attempt: Promise<Attempted>): void {
    const end = (note: () => void): void => {
      note()
      open--
      ended++
    }
    open++
    attempt.then(
      ({ result }) => end(() => counts[result]++),
      (cause) => end(() => faults.push(cause)),
    )
  }

  for (;;) {
    const before = ended
    if (mayClaim()) {
      const found = await claim('free')
      if (!found || found.isMore || ended !== before) continue
    }
    const freeInMs = mayClaim() ? sending.freeInMs() : undefined
    if (open === 0) {
      if (freeInMs === undefined) break
      const held = await claim('held')
      if (!mayClaim() || held?.dueInMs === undefined || held.dueInMs > freeInMs) break
    }
    await sending.pause(freeInMs)
  }
  await sending.reported()
  if (faults.length > 0) throw faults[0]
  const { sent, retried, failed, skipped, cancelled, lost } = counts
  return { attempted: sent + retried + failed + cancelled + lost, sent, retried, failed, skipped, expired }
}
