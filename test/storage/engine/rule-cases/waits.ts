import { equal, matches } from '../../../../src/contract-tests/assertions.ts'
import { replan, SOURCE } from '../../../../src/contract-tests/dispatch-store/replans.ts'
import {
  broken,
  delivery,
  HOUR,
  MINUTE,
  proof,
  RETRY,
  SENT,
} from '../../../../src/contract-tests/dispatch-store/samples.ts'
import { type DispatchCase, dispatchCases } from '../../../../src/contract-tests/dispatch-store/store-harness.ts'
import type { StoredWait } from '../../../../src/model/waiting.ts'

const WORDS: readonly StoredWait[] = ['quiet_hours', 'policy', 'receiver_paused', 'unavailable', 'unknown_here']

export const waitCases: readonly DispatchCase[] = dispatchCases([], {
  'an accepted delivery shows what it waits for until it is claimed': async (t) => {
    await t.accept('1', { deliveries: [delivery('x', { delayMs: HOUR, deferred: true, waitsFor: 'quiet_hours' })] })
    matches(await t.only('1'), { status: 'queued', waitsFor: 'quiet_hours', reason: undefined })
    await t.advance(HOUR)
    await t.claimOne()
    matches(await t.only('1'), { status: 'sending', waitsFor: undefined, reason: undefined })
  },
  'a delivery with limits keeps what it waits for, and a throttled one does not': async (t) => {
    const limited = (id: string) => {
      const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
      return { deliveries: [delivery(id, { delayMs: HOUR, deferred: true, waitsFor: 'policy', limits })] }
    }
    await t.accept('1', limited('x'))
    await t.accept('2', limited('y'))
    equal([await t.states('1'), await t.states('2')], [['queued policy'], ['skipped throttled']])
    matches(await t.only('2'), { waitsFor: undefined })
  },
  'a delivery that is put back shows what it waits for until it is claimed again': async (t) => {
    for (const waitsFor of WORDS) {
      await t.accept(waitsFor)
      await t.settleNext({ to: 'queued', delayMs: MINUTE, waitsFor })
      matches(await t.only(waitsFor), { status: 'queued', waitsFor, reason: undefined, attempts: 0 })
      await t.advance(MINUTE)
      const mine = proof(await t.claimOne())
      matches(await t.only(waitsFor), { status: 'sending', waitsFor: undefined })
      await t.store.settle({ ...mine, to: 'sent', attempt: SENT })
      matches(await t.only(waitsFor), { status: 'sent', waitsFor: undefined, reason: undefined })
    }
  },
  'an attempt after a wait leaves nothing of it': async (t) => {
    await t.accept('1')
    await t.settleNext({ to: 'queued', delayMs: MINUTE, waitsFor: 'receiver_paused', attempt: RETRY })
    equal(await t.states('1'), ['queued receiver_paused'])
    await t.advance(MINUTE)
    await t.settleNext({ to: 'queued', delayMs: MINUTE, attempt: RETRY })
    equal(await t.states('1'), ['queued'])
    await t.advance(MINUTE)
    await t.fail()
    equal(await t.states('1'), ['failed provider_rejected'])
  },
  'a cancelled or expired delivery waits for nothing': async (t) => {
    for (const id of ['1', '2']) {
      await t.accept(id, { expiresInMs: HOUR })
      await t.settleNext({ to: 'queued', delayMs: MINUTE, waitsFor: 'unavailable' })
    }
    const change = await t.cancel('1')
    matches(change?.changed, [{ status: 'cancelled', reason: undefined }])
    matches(await t.only('1'), { status: 'cancelled', waitsFor: undefined, reason: undefined })
    await t.advance(2 * HOUR)
    matches((await t.claim()).expired, [{ status: 'expired', reason: undefined }])
    matches(await t.only('2'), { status: 'expired', waitsFor: undefined, reason: undefined })
  },
  'a retried delivery does not show why it failed, and a replanned one what it waits for': async (t) => {
    await t.accept('1', { deliveries: [broken('x')], source: SOURCE })
    const planned = delivery('x', { delayMs: HOUR, deferred: true, waitsFor: 'quiet_hours' })
    const change = await replan(t, '1', [planned])
    matches(change, { changed: [{ status: 'queued', reason: undefined }] })
    matches(await t.only('1'), { status: 'queued', waitsFor: 'quiet_hours', reason: undefined })
    await t.advance(HOUR)
    await t.fail()
    await t.retry('1')
    matches(await t.only('1'), { status: 'queued', waitsFor: undefined, reason: undefined })
  },
})
