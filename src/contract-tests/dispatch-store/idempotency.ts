import { equal, matches, ok } from '../assertions.ts'
import { delivery, digested, HOUR, keyed, MARGIN, MINUTE, proof, SENT, TENANT } from './samples.ts'
import { contractCase, type DispatchCase } from './store-harness.ts'

export function idempotencyCases(): readonly DispatchCase[] {
  return [
    contractCase('to free the space of keys whose time is over changes no other', async (harness) => {
      const { store, other, accept, advance } = harness
      const answers: unknown[] = []
      for (const [at, ttlMs] of [HOUR, 5 * HOUR].entries()) {
        const outcome = await accept(`${at}`, keyed(`k${at}`, 'f', ttlMs))
        answers.push('answer' in outcome && outcome.answer)
      }
      equal((await store.forgetExpired?.(100)) ?? 0, 0, 'none is over')
      await advance(2 * HOUR)
      ok(((await store.forgetExpired?.(100)) ?? 0) < 100, 'fewer than asked for: none is left')
      equal(await other.recall(TENANT, 'k0'), undefined)
      equal(await other.recall(TENANT, 'k1'), { fingerprint: 'f', answer: answers[1] })
      matches(await accept('2', keyed('k0', 'f')), { outcome: 'accepted' })
      equal(await accept('3', keyed('k1', 'f')), { outcome: 'replayed', answer: answers[1] })
    }),

    contractCase('without a key nothing is de-duplicated', async ({ accept, found }) => {
      await accept('1')
      matches(await accept('2'), { outcome: 'accepted' })
      ok((await found('1')) && (await found('2')), 'both are there')
    }),

    contractCase('a key that nobody used is not known', async ({ other }) => {
      equal(await other.recall(TENANT, 'k'), undefined)
    }),

    contractCase('a repeated key is answered as the first time, and stores nothing', async (harness) => {
      const { other, accept, claim } = harness
      const first = await accept('1', keyed())
      ok(first.outcome === 'accepted', 'the first is accepted')
      equal(await accept('2', keyed(), other), { outcome: 'replayed', answer: first.answer })
      equal(await other.recall(TENANT, 'k'), { fingerprint: 'f1', answer: first.answer })
      equal(await other.findDispatch(TENANT, '2'), undefined)
      equal((await claim()).deliveries.length, 1)
    }),

    contractCase('a key with another fingerprint is refused, and stores nothing', async ({ other, accept, claim }) => {
      await accept('1', keyed('k', 'f1'))
      const before = await other.recall(TENANT, 'k')
      equal(await accept('2', keyed('k', 'f2'), other), { outcome: 'key_reused' })
      equal(await other.recall(TENANT, 'k'), before)
      equal(await other.findDispatch(TENANT, '2'), undefined)
      equal((await claim()).deliveries.length, 1)
    }),

    contractCase('a repeat is answered whatever has changed since', async ({ store, other, accept, claimOne }) => {
      const first = await accept('1', keyed())
      ok(first.outcome === 'accepted', 'the first is accepted')
      const answer = structuredClone(first.answer)
      await store.settle({ ...proof(await claimOne()), to: 'sent', attempt: SENT })
      equal(await other.recall(TENANT, 'k'), { fingerprint: 'f1', answer })
      equal(await accept('2', keyed(), other), { outcome: 'replayed', answer })
    }),

    contractCase('a key is forgotten when its time is over', async ({ other, accept, advance }) => {
      await accept('1', keyed('k', 'f1', HOUR))
      await advance(HOUR - MARGIN)
      matches(await other.recall(TENANT, 'k'), { fingerprint: 'f1' })
      matches(await accept('2', keyed('k', 'f1', HOUR)), { outcome: 'replayed' })
      await advance(MARGIN)
      equal(await other.recall(TENANT, 'k'), undefined)
      matches(await accept('3', keyed('k', 'f2', HOUR)), { outcome: 'accepted' })
      matches(await other.recall(TENANT, 'k'), { fingerprint: 'f2', answer: { dispatchId: '3' } })
    }),

    contractCase('each key has a time of its own', async ({ other, accept, advance }) => {
      await accept('1', keyed('long', 'f1', HOUR))
      await accept('2', keyed('short', 'f1', MINUTE))
      await advance(MINUTE)
      equal(await other.recall(TENANT, 'short'), undefined)
      matches(await other.recall(TENANT, 'long'), { answer: { dispatchId: '1' } })
    }),

    contractCase('a key of one tenant says nothing to another', async ({ other, accept }) => {
      await accept('1', keyed())
      equal(await other.recall('t2', 'k'), undefined)
      matches(await accept('2', { ...keyed('k', 'f2'), tenant: 't2' }), { outcome: 'accepted' })
      matches(await other.recall(TENANT, 'k'), { fingerprint: 'f1', answer: { dispatchId: '1' } })
      matches(await other.recall('t2', 'k'), { fingerprint: 'f2', answer: { dispatchId: '2' } })
    }),

    contractCase('where a tenant ends and its key begins is never mistaken', async ({ accept }) => {
      for (const mark of [':', '/', '|', '.', '-', '_', ' ', ',', '#', '"', '\\']) {
        matches(await accept(`${mark}1`, { ...keyed(`b${mark}c`), tenant: 'a' }), { outcome: 'accepted' })
        matches(await accept(`${mark}2`, { ...keyed('c'), tenant: `a${mark}b` }), { outcome: 'accepted' })
      }
    }),

    contractCase('a repeat counts under no limit, and joins no digest', async ({ accept, only }) => {
      const limits = [{ key: 'l', max: 2, windowMs: HOUR }]
      const post = (id: string) =>
        accept(id, { ...keyed(), deliveries: [delivery(id, { channel: 'b', limits }), digested(`${id}-d`)] })
      await post('1')
      for (const id of ['2', '3', '4']) matches(await post(id), { outcome: 'replayed' })
      await accept('5', { deliveries: [delivery('5', { limits })] })
      equal((await only('5')).status, 'queued')
      await accept('6', { deliveries: [digested('6-d')] })
      equal((await only('6')).eventCount, 2)
    }),
  ]
}
