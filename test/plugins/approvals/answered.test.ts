import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ApprovalsOptions, EndedApproval } from '../../../src/plugins/approvals/check-options.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { ADA, approving, NAME } from './approving.ts'

const TO = { eventType: 'refund.answered', recipient: 'agent@example.com' }

function reporting(answered: NonNullable<ApprovalsOptions['answered']>, more: object = {}) {
  const told: EndedApproval[] = []
  const host = approving({
    options: {
      answered(approval) {
        told.push(approval)
        return answered(approval)
      },
    },
    ...more,
  })
  return { ...host, told, sent: () => host.a.sent.filter(({ eventType }) => eventType === TO.eventType) }
}

describe('the event of an end', () => {
  it.each<[string, (host: ReturnType<typeof reporting>) => Promise<unknown>]>([
    ['accepted', ({ answer }) => answer()],
    ['declined', ({ answer }) => answer(ADA, 'decline')],
    ['cancelled', ({ sallyport }) => sallyport.approvals.cancel(NAME)],
    ['expired', async ({ clock }) => clock.advance(60_000)],
  ])('It is dispatched once when an approval is %s', async (status, end) => {
    const host = reporting(() => TO)
    await host.request({ expiresInMs: 60_000 })
    await end(host)
    for (let round = 0; round < 3; round++) await host.sallyport.worker.runDue()
    expect(host.sent()).toMatchObject([{ to: TO.recipient, content: { text: `answered ${status}` } }])
    expect(host.told).toMatchObject([{ tenant: 'default', status, action: { name: 'refund' } }])
  })

  it('A started worker reports an end of its process at once', async () => {
    const { sallyport, request, answer, sent, clock } = reporting(() => TO)
    sallyport.worker.start()
    await request()
    await answer()
    while (sent().length === 0) {
      clock.advance(10)
      await setImmediate()
    }
    await sallyport.stop()
    expect(sent()).toHaveLength(1)
  })

  it('Two processes report it once', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const one = reporting(() => TO, { store, clock })
    const other = reporting(() => TO, { store, clock })
    await one.request()
    await one.answer()
    await Promise.all([one, other].map(({ sallyport }) => sallyport.worker.runDue()))
    await one.sallyport.worker.runDue()
    expect([...one.sent(), ...other.sent()]).toHaveLength(1)
  })

  it('Its own data replaces the approval; undefined dispatches nothing', async () => {
    const own = reporting(() => ({ ...TO, eventData: { approval: { status: 'by me' } } }))
    await own.request()
    await own.answer()
    for (let round = 0; round < 2; round++) await own.sallyport.worker.runDue()
    expect(own.sent()).toMatchObject([{ content: { text: 'answered by me' } }])
    const none = reporting(() => undefined)
    await none.request()
    await none.answer()
    for (let round = 0; round < 2; round++) await none.sallyport.worker.runDue()
    expect([none.sent(), none.told.length]).toEqual([[], 1])
  })

  it.each<[string, unknown, object]>([
    ['an unknown event', { ...TO, eventType: 'other' }, { code: 'event_unknown' }],
    [
      'a text',
      'agent@example.com',
      { code: 'target_invalid', detail: expect.stringContaining('answered() of approvals returned') },
    ],
    ['its own event', { ...TO, eventType: 'refund.approval' }, { code: 'insufficient_scope' }],
  ])('%s is logged once, and the decision stands', async (_, target, fields) => {
    const { sallyport, request, answer, logger, sent } = reporting(() => target as never)
    await request()
    await answer()
    for (let round = 0; round < 3; round++) await sallyport.worker.runDue()
    expect(logger.lines.filter(({ event }) => event === 'approval.unreported')).toMatchObject([{ fields }])
    expect(sent()).toEqual([])
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'accepted' })
  })

  it('An approval of the same id after a removal is reported too', async () => {
    const { sallyport, request, answer, sent, clock } = reporting(() => TO)
    for (const round of [1, 2]) {
      await request()
      await answer()
      for (let turn = 0; turn < 2; turn++) await sallyport.worker.runDue()
      expect(sent()).toHaveLength(round)
      clock.advance(60_000)
      await sallyport.dispatches.prune({ olderThan: 1_000 })
      expect(await sallyport.approvals.get(NAME)).toBeUndefined()
    }
  })

  it('After an error it is called again, and the decision stands', async () => {
    let isBroken = true
    const { sallyport, request, answer, logger, sent } = reporting(() => {
      if (isBroken) throw new Error('broken')
      return TO
    })
    await request()
    await answer()
    await sallyport.worker.runDue()
    expect(logger.lines.map(({ event }) => event)).toContain('approval.failed')
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'accepted' })
    isBroken = false
    for (let round = 0; round < 2; round++) await sallyport.worker.runDue()
    expect(sent()).toHaveLength(1)
  })
})
