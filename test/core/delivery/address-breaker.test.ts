import { describe, expect, it } from 'vitest'
import type { Channel, SendOutcome } from '../../../src/ports/channel.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, stored } from '../dispatch/dispatching.ts'
import { app, BODY, gated, pass, SENT, settled, type TestApp } from './test-app.ts'

const TIMEOUT: SendOutcome = { outcome: 'unknown', code: 'timeout' }
const SECOND = 1_000
const PAUSE = 30 * SECOND

/** Many addresses of one receiver, as the URLs of one origin. Those that begin with `hang` time out. */
const ofOneReceiver: Partial<Channel> = {
  address: ({ email = '' }) => email,
  concurrencyKey: (address: string) => address.slice(address.indexOf('@')),
  retrySchedule: Array(50).fill(SECOND),
}

function receiver(options: Parameters<typeof app>[1] = {}) {
  const hanging = { now: /^hang/ }
  const a = recordingChannel([async ({ to }) => (hanging.now.test(to) ? TIMEOUT : SENT)], ofOneReceiver)
  return { own: app({ a }, { perReceiver: 2, ...options }), a, hanging }
}

async function accept({ deps }: TestApp, ...names: readonly string[]): Promise<void> {
  for (const name of names) await accepted(deps, { ...BODY, recipient: `${name}@receiver.example` })
}

const several = (name: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${name}${at}`)

async function deliveriesTo({ deps }: TestApp, name: RegExp) {
  const all = (await stored(deps)).flatMap((dispatch) => dispatch.deliveries)
  return all.filter(({ address = '' }) => name.test(address))
}

const linesOf = ({ deps }: TestApp, event: string) => deps.logger.lines.filter((line) => line.event === event)

describe('an address that keeps timing out', () => {
  it('Six hanging addresses move none of six others of their receiver to the end of a pause', async () => {
    const moved: unknown[] = []
    const { own } = receiver({
      store: (real) => ({
        async settle(settlement) {
          if (settlement.to === 'queued' && settlement.delayMs > 0) moved.push(settlement.deliveryId)
          return real.settle(settlement)
        },
      }),
    })
    await accept(own, ...several('hang', 6))
    own.worker.start()
    await pass(own, 3 * SECOND)
    await accept(own, ...several('good', 6))
    await pass(own, 3 * SECOND)
    const good = await deliveriesTo(own, /^good/)
    expect(good.map(({ status }) => status)).toEqual(Array(6).fill('sent'))
    expect(good.filter(({ deliveryId }) => moved.includes(deliveryId))).toEqual([])
    expect((await deliveriesTo(own, /^hang/)).map(({ status }) => status)).toEqual(Array(6).fill('queued'))
    await own.worker.stop()
  })

  it('Three time-outs pause an address, and no other of its receiver', async () => {
    const { own, a } = receiver()
    await accept(own, ...Array<string>(5).fill('hang'))
    own.worker.start()
    await pass(own, 5 * SECOND)
    const sends = a.sent.length
    expect(linesOf(own, 'delivery.receiver_paused')).toMatchObject([
      { level: 'warn', fields: { of: 'address', timeouts: 3, pauseMs: PAUSE } },
    ])
    expect((await deliveriesTo(own, /^hang/)).map(({ waitsFor }) => waitsFor)).toEqual(Array(5).fill('receiver_paused'))
    await accept(own, 'good', 'hang')
    await settled(own)
    expect(a.sent.slice(sends).map(({ to }) => to)).toEqual(['good@receiver.example'])
    await own.worker.stop()
  })

  it('After its pause one probe is sent, and the others wait without being claimed again and again', async () => {
    const { channel, gates } = gated(ofOneReceiver)
    const own = app({ a: channel }, { perReceiver: 4 })
    await accept(own, ...Array<string>(50).fill('hang'))
    own.worker.start()
    await settled(own)
    for (const gate of gates.slice(0, 4)) gate.open(TIMEOUT)
    await pass(own, PAUSE + 3 * SECOND)
    expect(gates).toHaveLength(5)
    const before = own.claims.length
    await pass(own, 20 * SECOND)
    expect(gates).toHaveLength(5)
    expect(own.claims.length - before).toBeLessThan(100)
    gates[4]?.open(SENT)
    await pass(own, 6 * SECOND)
    expect(gates.length).toBeGreaterThan(5)
    expect(linesOf(own, 'delivery.receiver_resumed')).toHaveLength(1)
  })
})

describe('a receiver whose addresses all time out', () => {
  it('Five addresses in a row pause it; one delivery at a time to another address is sent at once, and its answer resumes it', async () => {
    const { own, a } = receiver({ breaker: { timeouts: 100 } })
    await accept(own, ...several('hang', 5))
    own.worker.start()
    await settled(own)
    expect(linesOf(own, 'delivery.receiver_paused')).toMatchObject([{ fields: { of: 'receiver', addresses: 5 } }])
    await pass(own, 10 * SECOND)
    expect(a.sent).toHaveLength(5)
    await accept(own, ...several('good', 3))
    await settled(own)
    expect(a.sent.slice(5).map(({ to }) => to)).toEqual(several('good', 3).map((name) => `${name}@receiver.example`))
    expect(linesOf(own, 'delivery.receiver_resumed')).toHaveLength(1)
    await own.worker.stop()
  })

  it('Claims leave it out while that delivery is in flight, and its time-out doubles the pause', async () => {
    const { channel, gates } = gated(ofOneReceiver)
    const own = app({ a: channel }, { perReceiver: 5, breaker: { timeouts: 100 } })
    await accept(own, ...several('hang', 5))
    own.worker.start()
    await settled(own)
    for (const gate of gates) gate.open(TIMEOUT)
    await settled(own)
    await accept(own, ...several('other', 3))
    await settled(own)
    expect(gates).toHaveLength(6)
    await pass(own, 5 * SECOND)
    expect(gates).toHaveLength(6)
    expect(own.claims.at(-1)?.busy).toMatchObject([{ concurrencyKey: '@receiver.example' }])
    gates[5]?.open(TIMEOUT)
    await settled(own)
    expect(linesOf(own, 'delivery.receiver_paused').map(({ fields }) => fields.pauseMs)).toEqual([PAUSE, 2 * PAUSE])
    // The next one among the others is sent at once.
    expect(gates).toHaveLength(7)
    gates[6]?.open(SENT)
    await settled(own)
    expect(gates.length).toBeGreaterThan(7)
  })

  it('An answer between the time-outs starts the count again', async () => {
    const { own } = receiver({ perReceiver: 1 })
    await accept(own, ...several('hang', 4), 'good', ...several('hangs', 4))
    own.worker.start()
    await settled(own)
    expect(linesOf(own, 'delivery.receiver_paused')).toEqual([])
    await own.worker.stop()
  })
})
