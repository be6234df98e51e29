import { describe, expect, it } from 'vitest'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, gate, stored } from '../dispatch/dispatching.ts'
import { acceptMany, app, BODY, byAddress, gated, pass, SENT, settled, type TestApp, totals } from './test-app.ts'

const TIMEOUT: SendOutcome = { outcome: 'unknown', code: 'timeout' }
const SECOND = 1_000
const PAUSE = 30 * SECOND

/** A worker with one channel, whose receivers answer what `answer.now` says. Each delivery retries every second. */
function receivers(options: Parameters<typeof app>[1] = {}) {
  const answer: { now: SendOutcome } = { now: TIMEOUT }
  const a = recordingChannel([async () => answer.now], { ...byAddress, retrySchedule: Array(50).fill(SECOND) })
  const own = app({ a }, { perReceiver: 1, ...options })
  return { own, a, answer }
}

const linesOf = ({ deps }: TestApp, event: string) => deps.logger.lines.filter((line) => line.event === event)

async function deliveries({ deps }: TestApp) {
  return (await stored(deps)).flatMap((dispatch) => dispatch.deliveries)
}

/** Accepts a delivery that expires in 5 seconds. */
async function acceptShort({ deps }: TestApp): Promise<void> {
  await deps.store.accept({
    dispatch: {
      by: 'app',
      ...{ dispatchId: 'short', tenant: 'default', eventType: 'e', recipient: BODY.recipient, route: 'all' },
      deliveries: [
        {
          ...{ deliveryId: 'short', channel: 'a', status: 'queued', address: BODY.recipient },
          ...{ concurrencyKey: BODY.recipient, content: {} },
        },
      ],
    },
    expiresInMs: 5 * SECOND,
    answer: () => ({}) as never,
  })
  deps.queue.wake(0)
}

async function shortOne({ deps }: TestApp) {
  return (await deps.store.findDispatch('default', 'short'))?.deliveries[0]
}

/** Deliveries that are claimed while the sends before them pause their receiver. */
async function claimedDuringPause(accept: (own: TestApp) => Promise<void>) {
  const { channel, gates } = gated({ ...byAddress, retrySchedule: Array(50).fill(3_600 * SECOND) })
  const claiming = gate<void>()
  let isHeld = false
  const own = app(
    { a: channel },
    {
      perReceiver: 6,
      store: (real) => ({
        async claim(request) {
          if (isHeld) await claiming.promise
          return real.claim(request)
        },
      }),
    },
  )
  await acceptMany(own.deps, 3)
  own.worker.start()
  await settled(own)
  isHeld = true
  await accept(own)
  await settled(own)
  for (const gate of gates) gate.open(TIMEOUT)
  await settled(own)
  return { own, claiming }
}

describe('a receiver that keeps timing out', () => {
  it('Three time-outs in a row pause a receiver: its due deliveries wait, and are not counted as attempts', async () => {
    const { own, a } = receivers()
    await acceptMany(own.deps, 10)
    own.worker.start()
    await pass(own, 3 * SECOND)
    expect(a.sent).toHaveLength(3)
    await pass(own, 20 * SECOND)
    expect(a.sent).toHaveLength(3)
    const all = await deliveries(own)
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill('queued'))
    expect(all.filter(({ waitsFor }) => waitsFor === 'receiver_paused')).toHaveLength(1)
    const [paused] = all.filter(({ waitsFor }) => waitsFor === 'receiver_paused')
    expect((paused?.dueAt ?? 0) - own.deps.clock.now()).toBeGreaterThan(0)
    expect(all.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(3)
    expect(linesOf(own, 'delivery.receiver_paused')).toMatchObject([
      { level: 'warn', fields: { channel: 'a', timeouts: 3, pauseMs: PAUSE } },
    ])
    await own.worker.stop()
  })

  it('After the pause one probe is sent, and its success resumes the receiver', async () => {
    const { own, a, answer } = receivers()
    await acceptMany(own.deps, 10)
    own.worker.start()
    await pass(own, 10 * SECOND)
    answer.now = SENT
    await pass(own, 3 * PAUSE)
    expect(await totals(own.deps)).toEqual({ sent: 10 })
    expect(a.sent).toHaveLength(13)
    expect(linesOf(own, 'delivery.receiver_resumed')).toHaveLength(1)
    await own.worker.stop()
  })

  it('Only one probe is sent at a time, and each pause is twice as long as the one before, up to a limit', async () => {
    const { own, a } = receivers({ breaker: { maxPauseMs: 100 * SECOND } })
    await acceptMany(own.deps, 10)
    own.worker.start()
    await pass(own, 600 * SECOND)
    const pauses = linesOf(own, 'delivery.receiver_paused').map(({ fields }) => fields.pauseMs)
    expect(pauses.slice(0, 5)).toEqual([30, 60, 100, 100, 100].map((seconds) => seconds * SECOND))
    expect(a.sent).toHaveLength(2 + pauses.length)
    await own.worker.stop()
  })

  it('A delivery of a paused receiver expires in time', async () => {
    const { own } = receivers()
    await acceptMany(own.deps, 3)
    own.worker.start()
    await pass(own, 3 * SECOND)
    await acceptShort(own)
    await pass(own, 2 * SECOND)
    expect(await shortOne(own)).toMatchObject({ status: 'queued', attempts: 0 })
    await pass(own, 4 * SECOND)
    expect(await shortOne(own)).toMatchObject({ status: 'expired' })
    await own.worker.stop()
  })

  it('A pause is of one tenant: another tenant with the same receiver is not paused', async () => {
    const { own, a } = receivers()
    await acceptMany(own.deps, 5)
    own.worker.start()
    await pass(own, 10 * SECOND)
    const before = a.sent.length
    await accepted(own.deps, BODY, { authorization: 'Bearer other' })
    await pass(own, SECOND)
    expect(a.sent.length).toBe(before + 1)
    await own.worker.stop()
  })

  it('Answers between the time-outs, and quick failures, pause nothing', async () => {
    let sends = 0
    const next = (): SendOutcome => (++sends % 3 === 0 ? { outcome: 'retry', code: 'http_503' } : TIMEOUT)
    const a = recordingChannel([async () => next()], { ...byAddress, retrySchedule: Array(50).fill(SECOND) })
    const own = app({ a }, { perReceiver: 1 })
    await acceptMany(own.deps, 12)
    own.worker.start()
    await pass(own, 20 * SECOND)
    expect(a.sent.length).toBeGreaterThan(30)
    expect(linesOf(own, 'delivery.receiver_paused')).toEqual([])
    await own.worker.stop()
  })

  it('The breaker can be turned off', async () => {
    const { own, a } = receivers({ breaker: false })
    await acceptMany(own.deps, 5)
    own.worker.start()
    await pass(own, 20 * SECOND)
    expect(a.sent.length).toBeGreaterThan(15)
    expect(linesOf(own, 'delivery.receiver_paused')).toEqual([])
    await own.worker.stop()
  })

  it('runDue leaves the deliveries of a paused receiver queued and ends', async () => {
    const { own, a } = receivers()
    await acceptMany(own.deps, 10)
    expect(await own.worker.runDue()).toMatchObject({ attempted: 3, retried: 3 })
    expect(a.sent).toHaveLength(3)
    expect(await totals(own.deps)).toEqual({ queued: 10 })
  })

  it('A thousand deliveries to a dead receiver delay no other delivery of their tenant', async () => {
    let settlements = 0
    const { own, a, answer } = receivers({
      perReceiver: 2,
      store: (real) => ({
        async settle(settlement) {
          settlements++
          return real.settle(settlement)
        },
      }),
    })
    await acceptMany(own.deps, 1_000)
    own.worker.start()
    await pass(own, 5 * SECOND)
    expect(linesOf(own, 'delivery.receiver_paused')).toHaveLength(1)
    answer.now = SENT
    await accepted(own.deps, { ...BODY, recipient: 'alive@example.com' })
    await settled(own)
    expect(a.sent.at(-1)).toMatchObject({ to: 'alive@example.com' })
    await pass(own, 20 * SECOND)
    expect(own.claims.length).toBeLessThan(50)
    expect(settlements).toBeLessThan(30)
    await own.worker.stop()
  })

  it('The pause of a receiver ends on time, however rarely the worker polls', async () => {
    const { own, a, answer } = receivers({ pollMs: 3_600 * SECOND })
    await acceptMany(own.deps, 10)
    own.worker.start()
    await pass(own, 5 * SECOND)
    answer.now = SENT
    await pass(own, PAUSE)
    expect(a.sent.length).toBeGreaterThan(3)
    expect(linesOf(own, 'delivery.receiver_resumed')).toHaveLength(1)
    await own.worker.stop()
  })

  it('Deliveries wait for the end of a probe, and no longer', async () => {
    const { channel, gates } = gated({ ...byAddress, retrySchedule: Array(50).fill(SECOND) })
    const own = app({ a: channel }, { perReceiver: 4 })
    await acceptMany(own.deps, 10)
    own.worker.start()
    await settled(own)
    for (const gate of gates.slice(0, 4)) gate.open(TIMEOUT)
    await pass(own, PAUSE + SECOND)
    expect(gates).toHaveLength(5)
    expect((await deliveries(own)).filter(({ waitsFor }) => waitsFor === 'receiver_paused').length).toBeGreaterThan(0)
    const before = own.claims.length
    await pass(own, 5 * SECOND)
    expect(gates).toHaveLength(5)
    expect(own.claims.length - before).toBeLessThan(10)
    gates[4]?.open(SENT)
    await settled(own)
    expect(gates).toHaveLength(9)
  })

  it('A send that began before the pause does not prolong it', async () => {
    const { channel, gates } = gated({ ...byAddress, retrySchedule: Array(50).fill(SECOND) })
    const own = app({ a: channel }, { perReceiver: 4 })
    await acceptMany(own.deps, 4)
    own.worker.start()
    await settled(own)
    for (const gate of gates.slice(0, 3)) gate.open(TIMEOUT)
    await pass(own, PAUSE + SECOND)
    gates[3]?.open(TIMEOUT)
    await settled(own)
    expect(linesOf(own, 'delivery.receiver_paused')).toHaveLength(1)
  })

  it('A claim names at most 250 of many paused receivers, and none of them gets anything', async () => {
    const { own, a } = receivers({ breaker: { timeouts: 1, pauseMs: 3_600 * SECOND } })
    for (let at = 0; at < 300; at++) await accepted(own.deps, { ...BODY, recipient: `dead-${at}@example.com` })
    own.worker.start()
    await pass(own, 5 * SECOND)
    for (let at = 0; at < 300; at++) await accepted(own.deps, { ...BODY, recipient: `dead-${at}@example.com` })
    await pass(own, 60 * SECOND)
    expect(Math.max(...own.claims.map(({ busy }) => busy.length))).toBe(250)
    expect(a.sent).toHaveLength(300)
    expect(linesOf(own, 'delivery.receiver_paused')).toHaveLength(300)
    await own.worker.stop()
  })

  it('Moved deliveries of a paused receiver wake the queue once', async () => {
    const { own, claiming } = await claimedDuringPause(({ deps }) => acceptMany(deps, 3))
    const woken: number[] = []
    const { wake } = own.deps.queue
    own.deps.queue.wake = (delayMs) => {
      woken.push(delayMs)
      wake(delayMs)
    }
    claiming.open()
    await settled(own)
    expect((await deliveries(own)).filter(({ waitsFor }) => waitsFor === 'receiver_paused')).toHaveLength(3)
    expect(woken).toEqual([PAUSE])
  })

  it('A moved delivery of a paused receiver expires in time', async () => {
    const { own, claiming } = await claimedDuringPause(acceptShort)
    claiming.open()
    await settled(own)
    expect(await shortOne(own)).toMatchObject({ status: 'queued', waitsFor: 'receiver_paused', attempts: 0 })
    await pass(own, 6 * SECOND)
    expect(await shortOne(own)).toMatchObject({ status: 'expired', attempts: 0 })
  })
})
