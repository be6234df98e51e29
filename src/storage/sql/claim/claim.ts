import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import { retryOnConflict } from '../../engine/changes.ts'
import type { ClaimedJobs, Records } from '../../engine/records.ts'
import { type ClaimQueue, queueKey, queuesOf } from '../../rules/claim-priority.ts'
import { hasComeAround, MAX_ROUNDS } from '../../rules/tenant-turns.ts'
import type { Database } from '../connection/database.ts'
import { claimDueRows, type FoundDue, sharedChannels } from './claim-statement.ts'
import { lowWaterMarks } from './low-water-marks.ts'
import type { SeenTenant } from './tenant-marks.ts'
import { nextText, turnsOf } from './turn-texts.ts'

/** Leases due jobs: in one statement on PostgreSQL, else in one transaction. Keeps low-water marks of the index that claims read. */
export function jobClaimer(db: Database): NonNullable<Records['claim']> {
  const marks = lowWaterMarks(db.elapsed, db.timeoutMs)

  async function claimFrom(request: ClaimRequest, fence: string): Promise<FoundDue> {
    let scan = marks.begin()
    try {
      const found = await retryOnConflict(() => {
        scan = marks.begin()
        return claimDueRows(request, fence, scan, db)
      })
      return { ...found, nextAt: Math.min(found.nextAt, marks.learn(scan, found)) }
    } catch (cause) {
      const now = await db.sync().then(db.now, () => undefined)
      marks.failed(scan, queuesOf(Object.keys(request.limits)), now)
      throw cause
    }
  }

  /** Claims. While nothing is due for the visited tenants of shared channels, the next ones have their turn. */
  async function claimRounds(request: ClaimRequest, fence: string): Promise<ClaimedJobs> {
    const { after = {} } = request
    const first = await claimFrom(request, fence)
    const turns = turnsIn(request, first)
    let found: FoundDue = first
    let { last, cut, idle } = turns
    let nextAt = Math.min(first.nextAt, turns.nextAt)
    for (let rounds = 1; rounds < MAX_ROUNDS && found.leased.length === 0 && cut.length > 0; rounds++) {
      const before = { ...after, ...last }
      const limits = Object.fromEntries(cut.map(({ channel }) => [channel, request.limits[channel] ?? 0]))
      const next = { ...request, limits, after: before }
      found = await claimFrom(next, fence)
      const more = turnsIn(next, found)
      last = { ...last, ...more.last }
      nextAt = Math.min(nextAt, found.nextAt, more.nextAt)
      idle = [...idle, ...more.idle]
      cut = more.cut.filter((queue) => {
        const key = queueKey(queue)
        return !hasComeAround(after[key] ?? '', before[key] ?? '', last[key] ?? '')
      })
    }
    const { leased, now } = found
    const isMore = cut.length > 0 || nextAt <= now
    return { leased, now, last, nextAt: isMore ? now : Math.min(nextAt, await nextOf(idle, request)) }
  }

  async function nextOf(tenants: readonly SeenTenant[], request: ClaimRequest): Promise<number> {
    if (tenants.length === 0) return Number.POSITIVE_INFINITY
    const { text, values } = nextText(tenants, request, db.dialect, db.nameOf)
    // The claim has leased jobs; without this instant, the next poll finds more.
    const rows = await db.scan<{ readonly wake_at: unknown }>(text, values).catch(() => [])
    return Math.min(...rows.map(({ wake_at }) => Number(wake_at)), Number.POSITIVE_INFINITY)
  }

  return claimRounds
}

/** Turns of the tenants that a claim visited. */
interface FoundTurns {
  /** Where the next claim begins in each queue with turns, by its `queueKey`. */
  readonly last: Readonly<Record<string, string>>
  /** Queues of shared channels in which nothing was leased, but tenants after the visited ones may have due jobs. */
  readonly cut: readonly ClaimQueue[]
  /** When a shared channel may have more: the summary has no instant for it. */
  readonly nextAt: number
  /** Tenants of shared channels with due jobs of which none could be leased, because of busy receivers or other claims. */
  readonly idle: readonly SeenTenant[]
}

function turnsIn(request: ClaimRequest, { leased, ranges, tenants, now }: FoundDue): FoundTurns {
  const last: Record<string, string> = {}
  const cut: ClaimQueue[] = []
  const idle: SeenTenant[] = []
  const isShared = sharedChannels(request)
  let nextAt = Number.POSITIVE_INFINITY
  for (const queue of queuesOf([...new Set(ranges.map((one) => one.channel))])) {
    const { channel, priority } = queue
    const own = leased.filter(({ job }) => job.channel === channel)
    const limit = (request.limits[channel] ?? 0) - own.filter(({ job }) => job.priority < priority).length
    if (limit <= 0 || !ranges.some((range) => queueKey(range) === queueKey(queue))) continue
    const turns = turnsOf(queue, limit, request, ranges, tenants, now)
    if (turns.last !== undefined) last[queueKey(queue)] = turns.last
    if (!isShared.has(channel)) continue
    if (own.length > 0) {
      nextAt = now
      continue
    }
    for (const visit of turns.visited) {
      if (visit.firstAt > now) nextAt = Math.min(nextAt, visit.firstAt)
      else idle.push(visit)
    }
    if (turns.isCut) cut.push(queue)
  }
  return { last, cut, nextAt, idle }
}
