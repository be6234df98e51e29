import { expect, it } from 'vitest'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted } from '../dispatch/dispatching.ts'
import { acceptMany, app, BODY, gated, pass, SENT, settled } from './test-app.ts'

type Own = ReturnType<typeof app>

/** The log lines of an event. */
function linesOf({ deps }: Own, event: string): readonly object[] {
  return deps.logger.lines.filter((line) => line.event === event)
}

it('A worker logs worker.started once per start and worker.stopped once per stop', async () => {
  const own = app({ a: recordingChannel([SENT]) })
  own.worker.start()
  own.worker.start()
  await settled(own)
  expect(linesOf(own, 'worker.started')).toEqual([{ level: 'info', event: 'worker.started', fields: {} }])
  expect(linesOf(own, 'worker.stopped')).toEqual([])
  await own.worker.stop()
  const fields = { givenBack: 0, aborted: 0 }
  expect(linesOf(own, 'worker.stopped')).toEqual([{ level: 'info', event: 'worker.stopped', fields }])
  await own.worker.stop()
  expect(linesOf(own, 'worker.stopped')).toHaveLength(1)
  own.worker.start()
  await settled(own)
  expect(linesOf(own, 'worker.started')).toHaveLength(2)
  await own.worker.stop()
})

it('A worker that was never started logs neither worker.started nor worker.stopped', async () => {
  const own = app({ a: recordingChannel([SENT]) })
  await accepted(own.deps, BODY)
  await own.worker.runDue()
  await own.worker.stop()
  expect([...linesOf(own, 'worker.started'), ...linesOf(own, 'worker.stopped')]).toEqual([])
})

it('A worker in sandbox mode logs worker.sandboxed, and no start or stop', async () => {
  const own = app({ a: recordingChannel([SENT]) }, {}, { sandbox: true })
  own.worker.start()
  await own.worker.stop()
  expect(own.deps.logger.lines.map(({ event }) => event)).toEqual(['worker.sandboxed'])
})

it('A stopped worker logs how many sends it aborted', async () => {
  const channel = gated()
  const own = app({ a: channel.channel }, { perReceiver: 10 })
  await acceptMany(own.deps, 3)
  own.worker.start()
  await settled(own)
  const stopped = own.worker.stop({ graceMs: 5_000 })
  await pass(own, 8_000)
  await stopped
  expect(linesOf(own, 'worker.stopped')).toMatchObject([{ fields: { givenBack: 0, aborted: 3 } }])
})

it('A stopped worker logs how many deliveries it queued again unsent', async () => {
  let answer = (): void => {}
  const store = (real: DispatchStore): Partial<DispatchStore> => ({
    async claim(request) {
      const claims = await real.claim(request)
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      return claims
    },
  })
  const own = app({ a: recordingChannel([SENT]) }, { store })
  await acceptMany(own.deps, 4)
  own.worker.start()
  await settled(own)
  const stopped = own.worker.stop()
  answer()
  await stopped
  expect(linesOf(own, 'worker.stopped')).toMatchObject([{ fields: { givenBack: 4, aborted: 0 } }])
})

it('A worker logs delivery.reclaimed once for a delivery whose lease expired', async () => {
  const own = app({ a: recordingChannel([SENT]) })
  await acceptMany(own.deps, 2)
  const { deliveries } = await own.deps.store.claim({ limits: { a: 1 }, leaseMs: 30_000, busy: [] })
  await own.worker.runDue()
  expect(linesOf(own, 'delivery.reclaimed')).toEqual([])
  await pass(own, 30_000)
  await own.worker.runDue()
  const [lost] = deliveries
  const fields = { deliveryId: lost?.deliveryId, dispatchId: lost?.dispatch.dispatchId, channel: 'a', attempt: 2 }
  expect(linesOf(own, 'delivery.reclaimed')).toEqual([{ level: 'warn', event: 'delivery.reclaimed', fields }])
  await pass(own, 90_000)
  await own.worker.runDue()
  expect(linesOf(own, 'delivery.reclaimed')).toHaveLength(1)
})
