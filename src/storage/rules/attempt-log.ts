import type { AttemptEnd } from '../../model/dispatch.ts'
import type { AttemptRow, DeliveryRow } from './dispatch-rows.ts'

/** How many attempts that have ended are kept. */
const KEPT = 50

/** Counts an attempt and writes it down as under way. */
export function beginAttempt(row: DeliveryRow, startedAt: number): void {
  row.attempts += 1
  const begun: AttemptRow = { attempt: row.attempts, startedAt }
  if (!row.attemptLog) row.attemptLog = [begun]
  else if (row.attemptLog.push(begun) > KEPT + 1) row.attemptLog.shift()
}

/** Writes down how the attempt that is under way ended: never before it began. */
export function endAttempt(row: DeliveryRow, end: AttemptEnd, endedAt: number): void {
  const { outcome, code, provider, providerMessageId } = end
  const attempt = row.attemptLog?.at(-1)
  if (!row.attemptLog || !attempt) return
  attempt.endedAt = Math.max(endedAt, attempt.startedAt)
  attempt.outcome = outcome
  if (code !== undefined) attempt.code = row.lastCode = code
  if (provider !== undefined) attempt.provider = provider
  if (providerMessageId !== undefined) attempt.providerMessageId = providerMessageId
  if (row.attemptLog.length > KEPT) row.attemptLog.shift()
}

/** As if it had not begun. */
export function takeBackAttempt(row: DeliveryRow): void {
  row.attempts -= 1
  row.attemptLog?.pop()
}
