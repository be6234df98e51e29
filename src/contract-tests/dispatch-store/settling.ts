import type { DeliveryReason } from '../../model/dispatch.ts'
import { equal, matches, ok } from '../assertions.ts'
import { delivery, HOUR, LEASE, MARGIN, MINUTE, proof, REJECTED, RETRY, SENT } from './samples.ts'
import { between, contractCase, type DispatchCase, idsOf, numbers, timed } from './store-harness.ts'

const ALONE = { live: true, others: [] }

export function settlingCases(): readonly DispatchCase[] {
  return [...ends(), ...attempts()]
}

function ends(): readonly DispatchCase[] {
  return [
    contractCase('what is sent says so, with what the provider called it', async (harness) => {
      const { store, accept, claimOne, only } = harness
      await accept('1')
      const attempt = { outcome: 'sent', provider: 'p1', providerMessageId: 'm1' } as const
      equal(await store.settle({ ...proof(await claimOne()), to: 'sent', attempt }), ALONE)
      const stored = await only('1')
      matches(stored, {
        status: 'sent',
        attempts: 1,
        providerMessageId: 'm1',
        attemptLog: [{ attempt: 1, ...attempt }],
      })
      matches(stored, { reason: undefined, dueAt: undefined, lastCode: undefined })
    }),

    contractCase('what is sent is never handed out again', async ({ store, accept, claim, claimOne, advance }) => {
      await accept('1')
      await store.settle({ ...proof(await claimOne()), to: 'sent', attempt: SENT })
      for (const ms of [LEASE, 100 * HOUR]) {
        matches(await claim(), { deliveries: [], expired: [] })
        await advance(ms)
      }
      matches(await claim(), { deliveries: [], expired: [] })
    }),

    contractCase('what is queued again waits until its delay is over', async (harness) => {
      const { store, accept, advance, claim, claimOne, only } = harness
      await accept('1')
      const mine = proof(await claimOne())
      const { from, to } = await timed(harness, () =>
        store.settle({ ...mine, to: 'queued', delayMs: HOUR, attempt: RETRY }),
      )
      const stored = await only('1')
      matches(stored, { status: 'queued', attempts: 1, lastCode: 'busy' })
      between(stored.dueAt, from + HOUR, to + HOUR, 'when it is due')
      await advance(HOUR - MARGIN)
      equal((await claim()).deliveries, [])
      await advance(MARGIN)
      matches(await claimOne(), { deliveryId: '1-a', attempts: 2 })
    }),

    contractCase('what fails or is skipped says why, and is not handed out again', async (harness) => {
      const { store, accept, advance, claim, claimOne, states } = harness
      const reasons: readonly DeliveryReason[] = ['provider_rejected', 'attempts_exhausted', 'template_error']
      for (const to of ['failed', 'skipped'] as const) {
        for (const reason of [...reasons, 'opted_out' as const]) {
          const id = `${to} ${reason}`
          await accept(id)
          equal(await store.settle({ ...proof(await claimOne()), to, reason, attempt: REJECTED }), ALONE)
          equal(await states(id), [id])
        }
      }
      await advance(HOUR)
      matches(await claim(), { deliveries: [], expired: [] })
    }),

    contractCase('a settlement changes no other delivery', async ({ store, accept, advance, claimOne, found }) => {
      await accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] })
      await advance(1)
      await accept('2')
      const mine = proof(await claimOne())
      const [, y] = (await found('1')).deliveries
      const second = await found('2')
      equal(await store.settle({ ...mine, to: 'failed', reason: 'channel_error' }), ALONE)
      equal((await found('1')).deliveries[1], y)
      equal(await found('2'), second)
    }),

    contractCase('every one of many small steps is kept', async ({ store, other, accept, claim, claimOne, only }) => {
      await accept('1')
      for (const at of numbers(20)) {
        const handle = at % 2 === 0 ? store : other
        matches(await handle.settle({ ...proof(await claimOne()), to: 'queued', delayMs: 0, attempt: RETRY }), ALONE)
        matches(await only('1'), { status: 'queued', attempts: at + 1 })
      }
      equal(idsOf((await claim()).deliveries), ['1-a'])
    }),
  ]
}

function attempts(): readonly DispatchCase[] {
  return [
    contractCase('how an attempt ended is written down, and told to the next', async (harness) => {
      const { store, accept, advance, claimOne, only } = harness
      await accept('1')
      const begun = await timed(harness, () => claimOne())
      await advance(MINUTE)
      const unknown = { outcome: 'unknown', code: 'timeout', provider: 'p1' } as const
      const mine = proof(begun.value)
      const ended = await timed(harness, () => store.settle({ ...mine, to: 'queued', delayMs: 0, attempt: unknown }))
      const [first] = (await only('1')).attemptLog
      const { startedAt, endedAt, ...rest } = first ?? {}
      equal(rest, { attempt: 1, ...unknown })
      between(startedAt, begun.from, begun.to, 'when it began')
      between(endedAt, ended.from, ended.to, 'when it ended')
      const again = await claimOne()
      equal(again.history, [first])
      await store.settle({ ...proof(again), to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
      const stored = await only('1')
      equal(stored.attemptLog[0], first)
      matches(stored, { attempts: 2, lastCode: 'no', attemptLog: [{}, { attempt: 2, ...REJECTED }] })
    }),

    contractCase('the last code stays until there is another', async ({ store, accept, claimOne, only }) => {
      await accept('1')
      await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: 0, attempt: RETRY })
      const attempt = { outcome: 'sent', providerMessageId: 'm1' } as const
      await store.settle({ ...proof(await claimOne()), to: 'sent', attempt })
      matches(await only('1'), { lastCode: 'busy', providerMessageId: 'm1' })
    }),

    contractCase('an attempt that was none is taken back, and leaves no trace', async (harness) => {
      const { store, accept, claimOne, only } = harness
      await accept('1')
      await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: 0, attempt: RETRY })
      const { dueAt: _, ...before } = await only('1')
      for (const __ of numbers(5)) {
        equal(await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: 0 }), ALONE)
        matches(await only('1'), before)
      }
      matches(await claimOne(), { attempts: 2, history: [{ attempt: 1, ...RETRY }] })
    }),

    contractCase('an attempt that was none is taken back from what fails and is skipped', async (harness) => {
      const { store, accept, claimOne, only } = harness
      for (const to of ['failed', 'skipped'] as const) {
        await accept(to)
        await store.settle({ ...proof(await claimOne()), to, reason: 'opted_out' })
        matches(await only(to), { status: to, reason: 'opted_out', attempts: 0, attemptLog: [] })
      }
    }),

    contractCase('at least the newest fifty attempts are kept, oldest first', async (harness) => {
      const { store, accept, advance, claimOne, only } = harness
      await accept('1', { expiresInMs: 1_000 * HOUR })
      for (const at of numbers(60)) {
        const mine = proof(await claimOne())
        if (at % 3 === 0) await advance(LEASE)
        else await store.settle({ ...mine, to: 'queued', delayMs: 0, attempt: RETRY })
      }
      const check = (log: readonly { readonly attempt: number }[], what: string): void => {
        const found = log.map(({ attempt }) => attempt)
        ok(found.length >= 50 && found.length <= 60, `${what}: ${found.length} attempts`)
        equal(
          found,
          numbers(found.length).map((at) => 61 - found.length + at),
          what,
        )
      }
      check((await only('1')).attemptLog, 'what is stored')
      const claimed = await claimOne()
      equal(claimed.attempts, 61)
      check(claimed.history, 'what a worker is told')
      await store.settle({ ...proof(claimed), to: 'queued', delayMs: 0 })
      check((await only('1')).attemptLog, 'what is left when one is taken back')
    }),
  ]
}
