import { MAX_TENANTS_VISITED } from '../../../model/tenant-turns.ts'
import type { ClaimRequest } from '../../../ports/dispatch-store.ts'
import { type ClaimQueue, queueKey, queuesOf } from '../../rules/claim-priority.ts'
import { MAX_ROUNDS, shareTurns, type Visit } from '../../rules/tenant-turns.ts'
import { byValue, Changes, retryOnConflict } from '../changes.ts'
import type { ClaimedJob, ClaimedJobs, Prefix, Records, Scan } from '../records.ts'
import type { JobRecord } from './dispatch-records.ts'
import { leasedJob } from './leased-job.ts'
import { keys } from './load-dispatches.ts'

/**
 * Leases due jobs of records that have no claim of their own: the oldest urgent ones, then the oldest normal ones. If there are more of a
 * priority than its channel's limit has left, those of the next tenants come first. The versions of the jobs guard the leases.
 */
export function claimByScans(records: Records): NonNullable<Records['claim']> {
  return (request, fence) => retryOnConflict(() => new Claim(records, request, fence).run())
}

/** One try of a claim. */
class Claim {
  readonly #records: Records
  readonly #request: ClaimRequest
  readonly #fence: string
  readonly #isSkipped: (job: JobRecord) => boolean
  #now = 0

  constructor(records: Records, request: ClaimRequest, fence: string) {
    this.#records = records
    this.#request = request
    this.#fence = fence
    this.#isSkipped = skipped(request)
  }

  async run(): Promise<ClaimedJobs> {
    const { limits, leaseMs } = this.#request
    this.#now = (await this.#records.now()).earliest
    const { maxClaimed = Number.POSITIVE_INFINITY } = this.#records
    const channels = Object.entries(limits)
    // Before the turns: a cut by age after them would leave out the only delivery of a tenant again and again.
    const each = Math.max(1, Math.floor(maxClaimed / channels.filter(([, limit]) => limit > 0).length))
    const found = await Promise.all(
      channels.map(([channel, limit]) => this.#dueOfChannel(channel, Math.min(limit, each))),
    )
    const queues = found.flat()
    const due = queues
      .flatMap(({ due }) => due)
      .sort((one, other) => one.priority - other.priority || one.wake_at - other.wake_at)
    const leased = due.length > 0 ? await this.#lease(due) : []
    const nextAt = Math.min(...queues.map((queue) => queue.nextAt), leased.length > 0 ? this.#now + leaseMs : Infinity)
    const last = queues.flatMap(({ queue, last }) => (last === undefined ? [] : [[queueKey(queue), last] as const]))
    return { leased, now: this.#now, nextAt, last: Object.fromEntries(last) }
  }

  /** Leases jobs as they were when they were read together with their dispatches. */
  async #lease(due: readonly JobRecord[]): Promise<readonly ClaimedJob[]> {
    const jobIds = keys(due.map(({ delivery_id }) => delivery_id))
    const dispatchIds = keys([...new Set(due.map(({ dispatch_id }) => dispatch_id))])
    const {
      jobs = [],
      dispatches = [],
      states = [],
      contents = [],
    } = await this.#records.read([
      { kind: 'jobs', with: jobIds, columns: ['version'] },
      { kind: 'dispatches', with: dispatchIds },
      { kind: 'states', with: dispatchIds },
      { kind: 'contents', with: jobIds },
    ])
    const versions = byValue('delivery_id', jobs)
    const dispatchOf = byValue('dispatch_id', dispatches)
    const stateOf = byValue('dispatch_id', states)
    const contentOf = byValue('delivery_id', contents)
    const lease = { fence: this.#fence, leaseMs: this.#request.leaseMs, now: this.#now }
    const leased: ClaimedJob[] = []
    const changes = new Changes()
    for (const job of due) {
      const { delivery_id, dispatch_id } = job
      const [dispatch, state] = [dispatchOf.get(dispatch_id), stateOf.get(dispatch_id)]
      if (versions.get(delivery_id)?.version !== job.version || !dispatch || !state) continue
      changes.update('jobs', { ...leasedJob(job, lease), version: job.version })
      leased.push({ job, dispatch, state, content: contentOf.get(delivery_id) })
    }
    await changes.commit(this.#records)
    return leased
  }

  /** The due jobs of a channel, those of the first priority first. A limit that is used up still gives the next due time. */
  async #dueOfChannel(channel: string, limit: number): Promise<readonly DueInQueue[]> {
    const isShared = limit > 0 && this.#request.full?.some((one) => one.channel === channel)
    const found: DueInQueue[] = []
    let left = limit
    for (const queue of queuesOf([channel])) {
      const due = await (isShared ? this.#dueOfOthers(queue, left) : this.#dueInTurn(queue, left))
      left -= due.due.length
      found.push(due)
    }
    return found
  }

  async #dueInTurn(queue: ClaimQueue, limit: number): Promise<DueInQueue> {
    const oldest = await this.#firstDue(queue, undefined, limit)
    if (limit <= 0 || oldest.due.length < limit) return { queue, ...oldest }
    const { visits } = await nextOf(this.#tenants(queue), MAX_TENANTS_VISITED)
    const { shares, last } = shareTurns(visits, limit, this.#now)
    const due = new Map<string, JobRecord>()
    const isOneTenant = shares.length === 1 && oldest.due.every(({ tenant }) => tenant === shares[0]?.tenant)
    for (const { tenant, amount } of isOneTenant ? [] : shares) {
      const own = await this.#firstDue(queue, tenant, amount)
      for (const job of own.due) due.set(job.delivery_id, job)
    }
    for (const job of oldest.due) if (due.size < limit) due.set(job.delivery_id, job)
    return { queue, due: [...due.values()], nextAt: oldest.nextAt, last }
  }

  /** The turns of a queue with tenants at their share of its channel: reads only the others, because the backlog of those may be long. */
  async #dueOfOthers(queue: ClaimQueue, limit: number): Promise<DueInQueue> {
    const tenants = this.#tenants(queue)
    let reached: string | undefined
    let nextAt = Number.POSITIVE_INFINITY
    for (let rounds = 1; ; rounds++) {
      const { visits, isEnd } = await nextOf(tenants, MAX_TENANTS_VISITED)
      const { shares, last = reached } = shareTurns(visits, limit, this.#now)
      const amounts = new Map(shares.map(({ tenant, amount }) => [tenant, amount]))
      const due: JobRecord[] = []
      for (const { tenant, firstAt } of visits) {
        const isDue = firstAt <= this.#now
        const own = isDue ? await this.#firstDue(queue, tenant, amounts.get(tenant) ?? 0) : { due: [], nextAt: firstAt }
        due.push(...own.due)
        nextAt = Math.min(nextAt, own.nextAt)
      }
      reached = last
      if (due.length === 0 && !isEnd && rounds < MAX_ROUNDS) continue
      return { queue, due, nextAt: isEnd ? nextAt : this.#now, last }
    }
  }

  /** The tenants with waiting jobs that are not at their share, from the one after the cursor on and around. */
  async *#tenants({ channel, priority }: ClaimQueue): AsyncGenerator<Visit, undefined, undefined> {
    const full = new Set(this.#request.full?.flatMap((one) => (one.channel === channel ? one.tenant : [])))
    const start = this.#cursorOf({ channel, priority })
    const all = { kind: 'jobs', index: 'turns', with: [[channel, priority]], limit: 1, columns: [] } as const
    const parts: readonly Scan<'jobs'>[] =
      start === ''
        ? [all]
        : [
            { ...all, after: [start] },
            { ...all, until: [start] },
            { ...all, with: [[channel, priority, start]] },
          ]
    for (const part of parts) {
      for (let next = await this.#first(part); next; next = await this.#first({ ...part, after: [next.tenant] })) {
        if (!full.has(next.tenant)) yield { tenant: next.tenant, firstAt: next.wake_at }
        if (part.with[0]?.length === 3) break
      }
    }
    return undefined
  }

  async #first(scan: Scan<'jobs'>): Promise<JobRecord | undefined> {
    return (await this.#records.scan(scan)).found[0]?.record
  }

  /** The first due jobs of a queue that are not skipped, of one tenant or all, and the due time of the next one. */
  async #firstDue(
    { channel, priority }: ClaimQueue,
    tenant: string | undefined,
    limit: number,
  ): Promise<Pick<DueInQueue, 'due' | 'nextAt'>> {
    const due: JobRecord[] = []
    let after: Prefix | undefined
    for (let amount = limit + 1; ; amount *= 2) {
      const { found, last } = await this.#records.scan({
        kind: 'jobs',
        index: tenant === undefined ? 'due' : 'turns',
        with: [tenant === undefined ? [channel, priority] : [channel, priority, tenant]],
        ...(after && { after }),
        limit: amount,
      })
      for (const { record } of found) {
        // One past its expiry is ended, not sent.
        if (this.#isSkipped(record) && record.expires_at > this.#now) continue
        if (record.wake_at > this.#now || due.length >= limit) return { due, nextAt: record.wake_at }
        due.push(record)
      }
      if (!last) return { due, nextAt: Number.POSITIVE_INFINITY }
      after = last
    }
  }

  #cursorOf(queue: ClaimQueue): string {
    return this.#request.after?.[queueKey(queue)] ?? ''
  }
}

interface DueInQueue {
  readonly queue: ClaimQueue
  readonly due: readonly JobRecord[]
  readonly nextAt: number
  readonly last?: string | undefined
}

/** @returns At most `most` tenants, and whether there are no more. */
async function nextOf(
  tenants: AsyncGenerator<Visit, undefined, undefined>,
  most: number,
): Promise<{ readonly visits: readonly Visit[]; readonly isEnd: boolean }> {
  const visits: Visit[] = []
  while (visits.length < most) {
    const { value } = await tenants.next()
    if (!value) return { visits, isEnd: true }
    visits.push(value)
  }
  return { visits, isEnd: false }
}

/** Whether a claim leaves a job out, because its receiver is busy or its tenant is at its share. */
function skipped({ busy, full = [] }: ClaimRequest): (job: JobRecord) => boolean {
  const left = new Set([
    ...busy.map(({ channel, concurrencyKey, tenant }) => JSON.stringify([channel, 'receiver', concurrencyKey, tenant])),
    ...full.map(({ channel, tenant }) => JSON.stringify([channel, 'tenant', tenant])),
  ])
  if (left.size === 0) return () => false
  return ({ channel, tenant, concurrency_key: receiver }) =>
    left.has(JSON.stringify([channel, 'tenant', tenant])) ||
    (receiver !== null &&
      [undefined, tenant].some((of) => left.has(JSON.stringify([channel, 'receiver', receiver, of]))))
}
