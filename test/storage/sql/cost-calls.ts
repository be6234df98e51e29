import { expect } from 'vitest'
import { put, QUIET } from '../../../src/contract-tests/run-store/run-fixtures.ts'
import type { RunStatus } from '../../../src/model/run.ts'
import { noSpend, noTotals } from '../../../src/model/totals.ts'
import type { Acceptance, LeaseToken, NewDelivery, NewDispatch } from '../../../src/ports/dispatch-store.ts'
import type { MergeKey, RunStore, TotalsChanges } from '../../../src/ports/run-store.ts'
import { acceptance, claim, claimOne, delivery, digested, HOUR, keyed, lease } from '../storing.ts'
import { BACKLOG_CALLS } from './backlog-calls.ts'
import type { Call, CostTrial } from './cost-trials.ts'
import { PLUGIN_RECORD_CALLS, PLUGIN_RECORD_SWEEPS } from './plugin-record-calls.ts'

const QUOTA = { max: 1, windowMs: HOUR }
const SKIPPED = { status: 'skipped', reason: 'condition_false' } as const

const digest = (id: string, key = id): Acceptance => acceptance(id, { deliveries: [digested(`${id}-a`, { key })] })
const limited = (id: string, key = id): Acceptance =>
  acceptance(id, { deliveries: [delivery(`${id}-a`, { limits: [{ key, ...QUOTA }] })] })
const ofQuota = (id: string, key = id): Acceptance => ({ ...keyed(id, id), quotas: [{ key, ...QUOTA }] })
const broken = (deliveryId: string): NewDelivery => ({
  ...{ deliveryId, channel: 'a', status: 'failed', reason: 'template_error' },
})

/** @param before The events that are accepted first. */
function accepting(of: (id: string) => Acceptance, before?: (id: string) => Acceptance, outcome = 'accepted'): Call {
  return async ({ store }, id) => {
    if (before) expect(await store.accept(before(id))).toMatchObject({ outcome: 'accepted' })
    return async () => expect(await store.accept(of(id))).toMatchObject({ outcome })
  }
}

/** Leases a delivery of its own channel. */
async function leased({ store }: CostTrial, id: string, dispatch: Partial<NewDispatch> = {}): Promise<LeaseToken> {
  await store.accept(acceptance(id, { deliveries: [delivery(`${id}-a`, { channel: id })], ...dispatch }))
  return lease(await claimOne(store, id))
}

const runKey = (id: string, sessionId = id): MergeKey => ({ tenant: 't', sessionId, runId: id })

/** A post of a run with a user and a tag, which adds to all totals. */
function merge(store: RunStore, key: MergeKey, status: RunStatus): Promise<unknown> {
  const { runId, parentRunId } = key
  const add = { ...noTotals(), spend: { ...noSpend(), runs: 1 } }
  const descendants = parentRunId === undefined ? [] : [{ runId: parentRunId, add }]
  const totalsChanges: TotalsChanges = { session: add, descendants, users: [{ userId: runId, add: add.spend, at: 0 }] }
  return put(store, key, { status, tags: [status], latest: { userId: runId } }, { totalsChanges })
}

/** Ten hours ago. */
async function before({ clock }: CostTrial, work: () => Promise<unknown>): Promise<void> {
  const { now } = clock
  clock.now -= 10 * HOUR
  await work()
  clock.now = now
}

/** The frequent calls of callers and workers. */
export const CALLS: Readonly<Record<string, Call>> = {
  accept: accepting((id) => acceptance(id)),
  'accept under a key': accepting((id) => keyed(id, id)),
  'accept a repeat': accepting(
    (id) => keyed(id, id),
    (id) => keyed(`${id}-0`, id),
    'replayed',
  ),
  'accept under a key that has expired': accepting(
    (id) => keyed(id, id),
    (id) => keyed(`${id}-0`, id, 'f', 0),
  ),
  'accept under a quota': accepting((id) => ofQuota(id)),
  'accept under a key and a spent quota': accepting(
    (id) => ofQuota(id),
    (id) => ofQuota(`${id}-0`, id),
    'quota_spent',
  ),
  'accept under a spent limit': accepting(
    (id) => limited(id),
    (id) => limited(`${id}-0`, id),
  ),
  'accept a digest': accepting((id) => digest(id)),
  'accept into a digest': accepting(
    (id) => digest(id),
    (id) => digest(`${id}-0`, id),
  ),
  async recall({ store }, id) {
    await store.accept(keyed(id, id))
    return async () => expect(await store.recall('default', id)).toBeDefined()
  },
  async 'recall several keys at once'({ store }, id) {
    await store.accept(keyed(id, id))
    return async () =>
      expect(await Promise.all([id, id, id].map((key) => store.recall('default', key)))).toHaveLength(3)
  },
  async 'settle as sent'(trial, id) {
    const proof = await leased(trial, id)
    return async () => expect(await trial.store.settle({ ...proof, to: 'sent' })).toMatchObject({ live: true })
  },
  async 'settle for a retry'(trial, id) {
    const again = { ...(await leased(trial, id)), to: 'queued', delayMs: 1_000 } as const
    return async () => expect(await trial.store.settle(again)).toMatchObject({ live: true })
  },
  async 'settle what another process leased'(trial, id) {
    const proof = await leased(trial, id)
    return async () => expect(await trial.other.settle({ ...proof, to: 'sent' })).toMatchObject({ live: true })
  },
  async 'settle one of several'(trial, id) {
    const deliveries = [delivery(`${id}-a`, { channel: id }), delivery(`${id}-b`)]
    const proof = await leased(trial, id, { deliveries })
    return async () => expect(await trial.store.settle({ ...proof, to: 'sent' })).toMatchObject({ live: true })
  },
  async 'settle a digest'(trial, id) {
    const deliveries = [digested(`${id}-a`, {}, { channel: id, delayMs: 0 })]
    const proof = await leased(trial, id, { deliveries })
    return async () => expect(await trial.store.settle({ ...proof, to: 'sent' })).toMatchObject({ live: true })
  },
  async renew(trial, id) {
    const proof = await leased(trial, id)
    return async () => expect(await trial.store.renew(proof, 60_000)).toBe(true)
  },
  async expire({ store }, id) {
    await store.accept(acceptance(id, { deliveries: [delivery(`${id}-a`, { channel: id })] }, { expiresInMs: 0 }))
    return async () => expect((await claim(store, { [id]: 1 })).expired).toHaveLength(1)
  },
  async 'find a dispatch'({ store }, id) {
    await store.accept(acceptance(id))
    return async () => expect(await store.findDispatch('default', id)).toBeDefined()
  },
  async 'find a dispatch of a digest'({ store }, id) {
    await store.accept(digest(id))
    return async () => expect(await store.findDispatch('default', id)).toBeDefined()
  },
  async cancel({ store }, id) {
    await store.accept(acceptance(id))
    return async () => expect((await store.cancel('default', id))?.changed).toHaveLength(1)
  },
  async retry(trial, id) {
    await trial.store.settle({ ...(await leased(trial, id)), to: 'failed', reason: 'attempts_exhausted' })
    const retry = () => trial.store.retry('default', id, { expiresInMs: HOUR })
    return async () => expect((await retry())?.changed).toHaveLength(1)
  },
  async 'plan again'({ store }, id) {
    await store.accept(acceptance(id, { deliveries: [broken(`${id}-a`)], source: { eventData: {} } }))
    return async () => {
      const { version = 0 } = (await store.findReplannable('default', id)) ?? {}
      const planned = await store.replan('default', id, version, [delivery(`${id}-a`)], { expiresInMs: HOUR })
      expect(planned).toMatchObject({ outcome: 'replanned' })
    }
  },
  async 'merge a new run'({ store }, id) {
    return () => merge(store, runKey(id), 'running')
  },
  async 'merge a run that was merged last'({ store }, id) {
    await merge(store, runKey(id), 'running')
    return () => merge(store, runKey(id), 'completed')
  },
  async 'merge a run of another process'({ store, other }, id) {
    await merge(store, runKey(id), 'running')
    return () => merge(other, runKey(id), 'completed')
  },
  async 'merge a run below another'({ store, other }, id) {
    await merge(store, runKey(`${id}-p`, id), 'running')
    return () => merge(other, { ...runKey(id), parentRunId: `${id}-p` }, 'running')
  },
  async 'find a run'({ store }, id) {
    await merge(store, runKey(id), 'running')
    return async () => expect(await store.findRun(runKey(id))).toBeDefined()
  },
  async 'find a session'({ store }, id) {
    await merge(store, runKey(id), 'running')
    return async () => expect(await store.findSession('t', id)).toBeDefined()
  },
  async 'find what a user spent'({ store }, id) {
    await merge(store, runKey(id), 'running')
    return async () => expect(await store.findSpend('t', id, 0)).toMatchObject({ runs: 1 })
  },
  async 'list what is silent'(trial, id) {
    await before(trial, () => put(trial.store, runKey(id), { status: 'running' }))
    const silent = { status: ['running'], silentForMs: HOUR, limit: 5 } as const
    return async () => expect((await trial.store.listRuns(silent)).items).not.toHaveLength(0)
  },
  async 'find a dispatch by its delivery'({ store }, id) {
    await store.accept(acceptance(id))
    return async () => expect(await store.findByDelivery('default', `${id}-a`)).toBeDefined()
  },
  async 'fall back after a bounce'(trial, id) {
    const held = delivery(`${id}-b`, { channel: `${id}-b`, status: 'held' })
    const deliveries = [delivery(`${id}-a`, { channel: id }), held]
    await trial.store.settle({ ...(await leased(trial, id, { route: 'first', deliveries })), to: 'sent' })
    return async () => expect((await trial.store.fallBack('default', `${id}-a`))?.changed).toHaveLength(1)
  },
  async 'find the data of a dispatch'({ store }, id) {
    await store.accept(digest(id))
    return async () => expect((await store.findDispatchData('default', id))?.digests).toHaveLength(1)
  },
  async 'erase a dispatch'({ store }, id) {
    await store.accept(digest(id))
    return async () => expect(await store.eraseDispatch('default', id)).toEqual({ dispatches: 1, cancelled: 1 })
  },
  ...BACKLOG_CALLS,
  ...PLUGIN_RECORD_CALLS,
}

/** Sweeps that run every minute, and removals in batches. */
export const SWEEPS: Readonly<Record<string, Call>> = {
  async 'forget what has expired'({ store }, id) {
    await store.accept(keyed(id, id, 'f', 0))
    return async () => expect(await store.forgetExpired?.(5)).toBeGreaterThan(0)
  },
  async 'list pending runs'({ store }, id) {
    const derived = { ...QUIET, pending: ['completed'] as const }
    await put(store, runKey(id), { status: 'completed' }, { derived })
    return async () => expect((await store.listRuns({ pending: true, limit: 5 })).items).not.toHaveLength(0)
  },
  'list what is silent': CALLS['list what is silent'] as Call,
  async 'remove dispatches'(trial, id) {
    const over = acceptance(id, { deliveries: [delivery(`${id}-a`, SKIPPED)] })
    await before(trial, () => trial.store.accept(over))
    const removal = { acceptedForMs: HOUR, limit: 5 }
    return async () => expect(await trial.store.removeDispatches?.(removal)).toBeGreaterThan(0)
  },
  async 'remove runs'(trial, id) {
    await before(trial, () => put(trial.store, runKey(id), { status: 'completed', tags: ['x'] }))
    const removal = { status: ['completed'], unchangedForMs: HOUR, limit: 1 } as const
    return async () => expect(await trial.store.removeRuns(removal)).toBe(1)
  },
  ...PLUGIN_RECORD_SWEEPS,
}
