import { sql } from 'kysely'
import type { Leased } from './host-settings.ts'
import type { Host } from './hosts.ts'
import type { Accepted } from './load.ts'
import { connectTo, type Place, type RedisPlace, type SqlPlace } from './place.ts'
import { openStore } from './place-store.ts'
import type { Arrival } from './sink.ts'

/** Dispatches read at once. */
const PAGE = 200
/** Rounding of a database's clock. */
const ROUNDING_MS = 1

/** A delivery as stored in the database. */
export interface StoredDelivery {
  readonly delivery_id: string
  readonly dispatch_id: string
  readonly status: string
  readonly attempts: number
  /** JSON objects, each followed by a comma. */
  readonly attempt_log: string
  readonly version: number
  readonly fence: string | null
}

interface Job extends Pick<StoredDelivery, 'delivery_id' | 'fence'> {
  readonly attempt: number
  readonly begun: string
}

interface State extends Pick<StoredDelivery, 'dispatch_id' | 'version'> {
  readonly body: string
}

interface Entry {
  readonly deliveryId: string
  readonly status: string
  readonly attempts?: number
  readonly log?: readonly unknown[]
}

/** Comparison of promises and results. */
export interface Ledger {
  readonly accepted: number
  /** Accepted events that did not reach the sink, or are not `sent` in the database. */
  readonly lost: number
  /** Arrivals beyond the first of each delivery. */
  readonly duplicates: number
  /** Broken invariants, which must hold on any machine, as sentences. */
  readonly broken: readonly string[]
}

export function readDeliveries(place: Place): Promise<readonly StoredDelivery[]> {
  return place.dialect === 'redis' ? readDocuments(place) : readRows(place)
}

/** As the store reads them. */
async function readDocuments(place: RedisPlace): Promise<readonly StoredDelivery[]> {
  const { store, close } = await openStore(place)
  try {
    const found: StoredDelivery[] = []
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await store.listDispatches({ tenant: 'default', limit: PAGE, cursor })
      for (const { dispatchId: dispatch_id, deliveries } of page.items)
        for (const { deliveryId: delivery_id, status, attempts, attemptLog } of deliveries) {
          const attempt_log = attemptLog.map((one) => `${JSON.stringify(one)},`).join('')
          found.push({ delivery_id, dispatch_id, status, attempts, attempt_log, version: 0, fence: null })
        }
      cursor = page.nextCursor
    }
    return found
  } finally {
    await close()
  }
}

async function readRows(place: SqlPlace): Promise<readonly StoredDelivery[]> {
  const db = await connectTo(place)
  try {
    const jobs = await sql<Job>`select delivery_id, fence, attempt, begun from sallyport_jobs`.execute(db)
    const states = await sql<State>`select dispatch_id, body, version from sallyport_states`.execute(db)
    const jobOf = new Map(jobs.rows.map((job) => [job.delivery_id, job]))
    return states.rows.flatMap(({ dispatch_id, body, version }) =>
      (JSON.parse(body) as Entry[]).map(({ deliveryId, status, attempts = 0, log = [] }): StoredDelivery => {
        const { fence = null, attempt = attempts, begun = '' } = jobOf.get(deliveryId) ?? {}
        const attempt_log = log.map((one) => `${JSON.stringify(one)},`).join('') + begun
        const shown = fence === null ? status : 'sending'
        return {
          delivery_id: deliveryId,
          dispatch_id,
          status: shown,
          attempts: Number(attempt),
          attempt_log,
          version,
          fence,
        }
      }),
    )
  } finally {
    await db.destroy()
  }
}

/** Number of unfinished deliveries; `undefined` while the database is down. */
export async function countOpen(place: Place): Promise<number | undefined> {
  const found = await readDeliveries(place).catch(() => undefined)
  return found?.filter(({ status }) => status === 'queued' || status === 'sending').length
}

/** The compared records. */
export interface Accounts {
  readonly accepted: readonly Accepted[]
  readonly arrivals: readonly Arrival[]
  readonly leased: readonly Leased[]
  readonly deliveries: readonly StoredDelivery[]
}

/** Compares the records of the callers, the sink, the hosts and the database. */
export function balance({ accepted, arrivals, leased, deliveries }: Accounts): Ledger {
  const arrived = grouped(arrivals, ({ deliveryId }) => deliveryId)
  const stored = new Map(deliveries.map((delivery) => [delivery.delivery_id, delivery]))
  const lost = accepted.filter(
    ({ deliveryId }) => !arrived.has(deliveryId) || stored.get(deliveryId)?.status !== 'sent',
  )
  const broken = [
    ...lost.map(({ order, deliveryId, dispatchId }) => {
      const { status = 'not stored', attempt_log: log = '' } = stored.get(deliveryId) ?? {}
      return `${order} was answered 202 and is lost: ${dispatchId} ${deliveryId} ${status} ${log}, ${arrived.get(deliveryId)?.length ?? 0} arrivals`
    }),
    ...unlike(arrivals, ({ order }) => order, 'deliveryId', 'an order was delivered under several ids'),
    ...unlike(accepted, ({ order }) => order, 'dispatchId', 'a key was answered with several dispatches'),
    ...repeated(arrivals, ({ deliveryId, attempt }) => `${deliveryId} attempt ${attempt}`, 'an attempt was made twice'),
    ...repeated(arrivals, ({ deliveryId, fence }) => `${deliveryId} ${fence}`, 'a lease was used for two sends'),
    ...deliveries.flatMap(problemsOfLog),
    ...takenTooSoon(leased, deliveries),
  ]
  return { accepted: accepted.length, lost: lost.length, duplicates: arrivals.length - arrived.size, broken }
}

/** Writes refused because the lease had been reassigned. */
export function refusedWrites(host: Host): number {
  return host.settled.filter(({ live }) => !live).length
}

/** The outcomes of its attempts in order; `lost` for an attempt without one. */
export function outcomesOf({ attempt_log: log }: StoredDelivery): readonly string[] {
  const attempts: readonly { readonly outcome?: string }[] = JSON.parse(`[${log.replace(/,\s*$/, '')}]`)
  return attempts.map(({ outcome = 'lost' }) => outcome)
}

function problemsOfLog(delivery: StoredDelivery): readonly string[] {
  const outcomes = outcomesOf(delivery)
  const sent = outcomes.filter((outcome) => outcome === 'sent').length
  const isRight = delivery.status === 'sent' ? sent === 1 && outcomes.at(-1) === 'sent' : sent === 0
  return isRight ? [] : [`${delivery.delivery_id} is ${delivery.status} after ${outcomes.join(', ')}`]
}

/** Leases that the store reassigned before they had expired or ended. */
function takenTooSoon(leased: readonly Leased[], deliveries: readonly StoredDelivery[]): readonly string[] {
  const leases = grouped(leased, ({ deliveryId, attempt }) => `${deliveryId} ${attempt}`)
  return deliveries.flatMap((delivery) =>
    outcomesOf(delivery).flatMap((outcome, index) => {
      const own = leases.get(`${delivery.delivery_id} ${index + 1}`)
      const next = leases.get(`${delivery.delivery_id} ${index + 2}`)
      if (outcome !== 'lost' || !own || !next) return []
      const earlyMs = Math.max(...own.map(endsAt)) - Math.min(...next.map(({ at }) => at))
      if (earlyMs <= ROUNDING_MS) return []
      return [`${delivery.delivery_id} was leased ${earlyMs} ms before the lease of attempt ${index + 1} had ended`]
    }),
  )
}

/** The earliest possible end of a lease. */
function endsAt({ askedAt, leaseMs }: Leased): number {
  return askedAt + leaseMs
}

function unlike<T>(list: readonly T[], keyOf: (one: T) => string, field: keyof T, what: string): readonly string[] {
  const groups = [...grouped(list, keyOf)]
  const odd = groups.filter(([, group]) => new Set(group.map((one) => one[field])).size > 1)
  return odd.map(([key, group]) => `${what}: ${key} ${group.map((one) => one[field]).join(' ')}`)
}

function repeated<T>(list: readonly T[], keyOf: (one: T) => string, what: string): readonly string[] {
  const groups = [...grouped(list, keyOf)].filter(([, group]) => group.length > 1)
  return groups.map(([key, group]) => `${what}: ${key} ${JSON.stringify(group)}`)
}

function grouped<T>(list: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of list) {
    const group = groups.get(keyOf(one))
    if (group) group.push(one)
    else groups.set(keyOf(one), [one])
  }
  return groups
}
