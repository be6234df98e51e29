import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import type { Worker } from '../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Dispatch } from '../../../src/model/dispatch.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import type { SallyportStore } from '../../../src/ports/sallyport-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, testAuth } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'
import { type Gate, gate } from '../dispatch/dispatching.ts'
import { hold, isFinal } from './invariants.ts'
import { type InFlight, type Life, provider } from './provider.ts'

const RUNS = runs(2_000)
const SCHEDULE = [1_000, 3_000, 9_000]
const WORKER = { leaseMs: 6_000, sendTimeoutMs: 10_000, concurrency: 2 }

const channels = { a: {}, b: {}, c: {} }
const events = defineEvents({ all: { channels }, first: { route: 'first', channels } })

type Step =
  | { readonly do: 'accept'; readonly route: 'all' | 'first' }
  | { readonly do: 'run' | 'crash' | 'cut off' | 'slow down' | 'slow down'; readonly worker: number }
  | { readonly do: 'answer'; readonly place: number; readonly outcome: Parameters<InFlight['answer']>[0] }
  | { readonly do: 'wait'; readonly ms: number }

const worker = fc.nat({ max: 2 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('accept' as const), route: fc.constantFrom('all', 'first') }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('run' as const), worker }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'cut off' as const, 'slow down' as const), worker }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      place: fc.nat({ max: 20 }),
      outcome: fc.constantFrom('sent', 'retry', 'unknown', 'rejected', 'throw'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 500, 1_000, 3_600, 6_000, 10_000),
    }),
  },
)

/** The process of a worker. Store calls of a dead process never settle. */
interface Process extends Life {
  readonly worker: Worker
  /** It can claim, but not renew or settle. */
  isCutOff: boolean
  /** Delays settlements until it opens. */
  through: Gate<void> | undefined
}

function app() {
  const clock = fakeClock()
  const ports = { auth: testAuth, events, clock, ids: countingIds(), logger: { log() {} } }
  const store = memoryStore({ clock })
  const mail = provider()
  /** Deliveries and dispatches with an attempt whose outcome is in doubt. */
  const doubtful = new Set<string>()
  const recordedSent = new Set<string>()
  /** The newest lease of each delivery. */
  const fences = new Map<string, string>()
  const processes: Process[] = []
  /** Broken invariants during sends. */
  const faults: unknown[] = []

  function checkSend(begun: InFlight): void {
    const { deliveryId, dispatchId, eventType } = begun
    hold('no delivery is sent after it was recorded as sent', !recordedSent.has(deliveryId), () => deliveryId)
    for (const other of mail.inFlight.filter((one) => one.deliveryId === deliveryId)) {
      const isGivenUp = other.signal.aborted || other.worker.isDead
      hold('no delivery is sent while another worker sends it', isGivenUp, () => ({ deliveryId, begun: mail.begun }))
      doubt(other)
    }
    const again = mail.taken.some((one) => one.deliveryId === deliveryId)
    hold('an accepted message is sent again only when in doubt', !again || doubtful.has(deliveryId), () => deliveryId)
    const inRoute = eventType === 'first' && mail.taken.some((one) => one.dispatchId === dispatchId)
    hold(
      'a fallback follows an accepted message only when in doubt',
      !inRoute || doubtful.has(dispatchId),
      () => dispatchId,
    )
    const sends = mail.begun.filter((one) => one.deliveryId === deliveryId).length
    hold('a delivery has no more attempts than its schedule', sends <= SCHEDULE.length, () => ({
      deliveryId,
      begun: mail.begun,
    }))
  }

  function doubt({ deliveryId, dispatchId }: Pick<InFlight, 'deliveryId' | 'dispatchId'>): void {
    doubtful.add(deliveryId).add(dispatchId)
  }

  function start(): Process {
    const life: Life = { isDead: false }
    const onSend = (begun: InFlight): void => {
      try {
        checkSend(begun)
      } catch (fault) {
        // The worker would treat a thrown error as one of the channel.
        faults.push(fault)
      }
      begun.signal.addEventListener('abort', () => doubt(begun))
    }
    const own = (): Channel => mail.channel(life, SCHEDULE, onSend)
    const all = { a: own(), b: own(), c: own() }
    const { worker } = createSallyport({
      ...ports,
      channels: all,
      store: crashableStore(() => process),
      worker: WORKER,
    })
    const process: Process = Object.assign(life, { isCutOff: false, through: undefined, worker })
    return process
  }

  /** The store of one process. */
  function crashableStore(own: () => Process): SallyportStore {
    const never = new Promise<never>(() => {})
    return {
      ...store,
      async claim(request) {
        if (own().isDead) return never
        const claims = await store.claim(request)
        for (const { deliveryId, fence } of claims.deliveries) fences.set(deliveryId, fence)
        return claims
      },
      async renew(lease, ms) {
        if (own().isDead) return never
        if (own().isCutOff) throw new Error('the store is gone')
        return store.renew(lease, ms)
      },
      async settle(settlement) {
        if (own().isDead) return never
        if (own().isCutOff) throw new Error('the store is gone')
        await own().through?.promise
        if (own().isDead) return never
        const settled = await store.settle(settlement)
        const isNewest = fences.get(settlement.deliveryId) === settlement.fence
        if (settled.live && !isNewest) faults.push(new Error('broken: only the newest lease counts'))
        if (settled.live && settlement.to === 'sent') recordedSent.add(settlement.deliveryId)
        return settled
      },
    }
  }

  async function stored(): Promise<readonly Dispatch[]> {
    return (await store.listDispatches({ tenant: 'default', limit: 1_000 })).items
  }

  const reach: Channel = { address: ({ id }) => id, send: async () => ({ outcome: 'rejected', code: 'not_here' }) }
  const host = createSallyport({ ...ports, store, channels: { a: reach, b: reach, c: reach } })
  for (let count = 0; count < 3; count++) processes.push(start())
  return { clock, mail, host, processes, faults, doubt, start, stored }
}

async function settled(): Promise<void> {
  for (let round = 0; round < 3; round++) await setImmediate()
}

async function play(own: ReturnType<typeof app>, one: Step): Promise<void> {
  await act(own, one)
  if (own.faults.length > 0) throw own.faults[0]
}

async function act(own: ReturnType<typeof app>, one: Step): Promise<void> {
  const { clock, mail, host, processes, doubt, start } = own
  switch (one.do) {
    case 'accept':
      hold('the event is accepted', (await host.dispatch({ eventType: one.route, recipient: 'user_1' })).ok, () => one)
      return
    case 'run':
      void processes[one.worker]?.worker.runDue().catch(() => {})
      return settled()
    case 'crash': {
      const dead = processes[one.worker]
      if (!dead) return
      dead.isDead = true
      for (const sending of mail.inFlight) if (sending.worker === dead) doubt(sending)
      processes[one.worker] = start()
      return
    }
    case 'cut off': {
      const process = processes[one.worker]
      if (process) process.isCutOff = !process.isCutOff
      return
    }
    case 'slow down': {
      const process = processes[one.worker]
      if (!process) return
      process.through?.open()
      process.through = process.through ? undefined : gate()
      return settled()
    }
    case 'answer': {
      const sending = mail.inFlight[one.place % mail.inFlight.length]
      if (!sending) return
      const isApart = processes.some((one) => one === sending.worker && (one.isCutOff || one.through))
      const isLate = isApart || sending.worker.isDead || sending.signal.aborted
      if (isLate || one.outcome === 'unknown') doubt(sending)
      sending.answer(one.outcome)
      return settled()
    }
    case 'wait':
      for (let left = one.ms; left > 0; left -= 500) {
        clock.advance(Math.min(500, left))
        await settled()
      }
  }
}

async function drain(own: ReturnType<typeof app>): Promise<void> {
  for (const process of own.processes) {
    process.isCutOff = false
    process.through?.open()
    process.through = undefined
  }
  for (let round = 0; round < 100; round++) {
    const left = (await own.stored()).flatMap(({ deliveries }) => deliveries).filter((one) => !isFinal(one))
    if (left.length === 0) return
    await play(own, { do: 'run', worker: 0 })
    while (own.mail.inFlight.length > 0) await play(own, { do: 'answer', place: 0, outcome: 'sent' })
    await play(own, { do: 'wait', ms: 1_000 })
  }
  hold('every delivery becomes final', false, () => own.mail.begun)
}

/** A worker crashes before it can settle a delivery that the provider accepts. */
const SENT_TWICE: Step[] = [
  { do: 'accept', route: 'all' },
  { do: 'run', worker: 0 },
  { do: 'crash', worker: 0 },
  { do: 'answer', place: 0, outcome: 'sent' },
]

test('Workers that crash, hang or lose the store never resend a delivery recorded as sent', {
  timeout: TIMEOUT_MS,
}, async () => {
  let doubles = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const own = app()
      for (const one of steps) await play(own, one)
      await drain(own)
      const { taken } = own.mail
      for (const { dispatchId, deliveries } of await own.stored()) {
        for (const { deliveryId, status } of deliveries) {
          const times = taken.filter((one) => one.deliveryId === deliveryId).length
          hold('a delivery recorded as sent was accepted', status !== 'sent' || times > 0, () => ({
            dispatchId,
            deliveryId,
          }))
          if (times > 1) doubles++
        }
      }
    }),
    { numRuns: RUNS, examples: [[SENT_TWICE]] },
  )
  expect(doubles, 'some deliveries were sent twice').toBeGreaterThan(0)
})
