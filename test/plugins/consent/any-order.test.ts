import { resend } from 'sallyport/feedback/resend'
import { toFetch } from 'sallyport/fetch'
import { Webhook } from 'svix'
import { afterAll, describe, expect, it } from 'vitest'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchView } from '../../../src/model/dispatch.ts'
import { type ConsentApi, consent } from '../../../src/plugins/index.ts'
import type { SallyportStore } from '../../../src/ports/sallyport-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { RESEND_SECRET } from '../../feedback/signers.ts'
import { databaseKinds, type TestDatabase } from '../../storage/databases.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { about, feedbackRequest, HOUR_MS, KEY } from './consenting.ts'

const kinds = await databaseKinds()
const START = Date.UTC(2027, 0, 15, 12)
const channels = { email: { text: () => 'Hi' }, chat: { text: () => 'Hi' } }
const events = defineEvents({ first: { route: 'first', fallbackOn: ['bounced'], channels } })

/** When a process dies: never, after it claimed, or after it sent. */
type Crash = 'never' | 'claimed' | 'sent'

const TYPES = ['delivered', 'opened', 'soft', 'hard', 'complained'] as const
type ReportType = (typeof TYPES)[number]
const KINDS = { delivered: 'delivered', opened: 'opened', soft: 'bounced', hard: 'bounced', complained: 'complained' }

interface Step {
  readonly process: number
  readonly crash: Crash
  /** Reports that arrive before this step, and while its message is being sent. */
  readonly before: number
  readonly during: number
  readonly hours: number
}

interface Scenario {
  readonly reports: readonly { readonly type: ReportType; readonly at: number; readonly repeats: number }[]
  readonly steps: readonly Step[]
}

const scenarios = fc.record<Scenario>({
  reports: fc.array(fc.record({ type: fc.constantFrom(...TYPES), at: fc.nat(20), repeats: fc.nat(2) }), {
    maxLength: 5,
  }),
  steps: fc.array(
    fc.record({
      process: fc.nat(1),
      crash: fc.constantFrom<Crash>('never', 'claimed', 'sent'),
      before: fc.nat(2),
      during: fc.nat(2),
      hours: fc.nat(2),
    }),
    { maxLength: 6 },
  ),
})

interface Process {
  readonly sallyport: Sallyport<unknown> & ConsentApi
  /** Resolves when the process dies. */
  readonly died: Promise<void>
}

/** The store of a process. When it dies, none of its calls is made or answered any more. */
function mortal(
  store: SallyportStore,
  crash: () => Crash,
): { readonly store: SallyportStore; readonly died: Promise<void> } {
  let resolve = (): void => {}
  const died = new Promise<void>((done) => {
    resolve = done
  })
  let isDead = false
  const die = (): Promise<never> => {
    isDead = true
    resolve()
    return new Promise(() => {})
  }
  const calls = Object.entries(store).map(([name, call]) => [
    name,
    async (...args: readonly unknown[]) => {
      if (isDead || (name === 'settle' && crash() === 'sent')) return die()
      const result = await call(...args)
      return isDead || (name === 'claim' && crash() === 'claimed') ? die() : result
    },
  ])
  return { store: { ...store, ...Object.fromEntries(calls) }, died }
}

interface Outcome {
  readonly dispatch: DispatchView
  readonly suppressed: readonly string[]
  /** Mails that were sent after a report had suppressed the address. */
  readonly wrong: number
  readonly chats: number
}

async function play(
  { reports, steps }: Scenario,
  stores: readonly SallyportStore[],
  clock: FakeClock,
): Promise<Outcome> {
  const recipient = `${crypto.randomUUID()}@example.com`
  const email = recordingChannel()
  const chat = recordingChannel()
  const pending = reports.flatMap((report) => Array.from({ length: report.repeats + 1 }, () => report))
  let now: Step | undefined
  let isSuppressed = false
  let wrong = 0
  const start = (own: SallyportStore): Process => {
    const { store, died } = mortal(own, () => now?.crash ?? 'never')
    const sallyport = createSallyport<unknown>({
      ...{ auth: testAuth, events, channels: { email, chat }, clock, store, logger: recordingLogger() },
      plugins: [consent({ keys: [KEY], feedback: { resend: resend({ channel: 'email', secret: RESEND_SECRET }) } })],
    }) as Process['sallyport']
    return { sallyport, died }
  }
  const processes = stores.map(start)
  // Takes events and feedback, and finishes what is left.
  const [first] = stores.map(start).map(({ sallyport }) => sallyport) as [Process['sallyport']]
  const fetch = toFetch(first)

  async function post(count: number): Promise<void> {
    const { deliveryId } = email.sent[0] ?? {}
    if (deliveryId === undefined) return
    for (const { type, at } of pending.splice(0, count)) {
      const isBounce = type === 'hard' || type === 'soft'
      const bounce = isBounce && { bounce: { type: type === 'hard' ? 'Permanent' : 'Transient' } }
      const created_at = new Date(START + at * 1_000).toISOString()
      const data = about(deliveryId, { to: [recipient], ...bounce })
      const body = JSON.stringify({ type: `email.${KINDS[type]}`, created_at, data })
      const id = crypto.randomUUID()
      const sentAt = new Date(clock.now())
      const signature = new Webhook(RESEND_SECRET).sign(id, sentAt, body)
      const headers = { 'svix-id': id, 'svix-timestamp': `${Math.floor(+sentAt / 1_000)}`, 'svix-signature': signature }
      expect((await fetch(feedbackRequest('resend', body, headers))).status).toBe(200)
      isSuppressed ||= type === 'hard' || type === 'complained'
    }
  }
  const { send } = email
  email.send = async (message, context) => {
    if (isSuppressed) wrong++
    const outcome = await send(message, context)
    await post(now?.during ?? 0)
    return outcome
  }

  const accepted = await first.dispatch({ eventType: 'first', recipient } as never)
  const dispatchId = accepted.ok ? accepted.body.dispatchId : ''
  for (const step of steps) {
    await post(step.before)
    now = step
    const { process: at } = step
    const one = processes[at] as Process
    const hasDied = await Promise.race([one.died.then(() => true), one.sallyport.worker.runDue().then(() => false)])
    if (hasDied) processes[at] = start(stores[at] as SallyportStore)
    now = undefined
    clock.advance(step.hours * HOUR_MS)
  }
  const finish = async (): Promise<void> => {
    for (let rounds = 0; rounds < 3; rounds++) {
      clock.advance(HOUR_MS)
      await first.worker.runDue()
    }
  }
  await finish()
  await post(Infinity)
  await finish()
  const dispatch = await first.dispatches.get(dispatchId)
  if (!dispatch) throw new Error('the dispatch is gone')
  const found = await first.suppressions.find({ address: recipient })
  const suppressed = found.map(({ reason }) => reason).filter((reason) => reason !== 'soft_bounced')
  return { dispatch, suppressed: suppressed.sort(), wrong, chats: chat.sent.length }
}

/** One entry for each kind, with its earliest time. */
function expectedFeedback({ reports }: Scenario): readonly object[] | undefined {
  const earliest = new Map<string, number>()
  for (const { type, at } of reports) earliest.set(KINDS[type], Math.min(at, earliest.get(KINDS[type]) ?? Infinity))
  const entries = [...earliest].sort(([one, at], [other, otherAt]) => at - otherAt || (one < other ? -1 : 1))
  if (entries.length === 0) return undefined
  return entries.map(([kind, at]) => ({ kind, at: new Date(START + at * 1_000).toISOString() }))
}

async function check(scenario: Scenario, stores: readonly SallyportStore[], clock: FakeClock): Promise<void> {
  const { dispatch, suppressed, wrong, chats } = await play(scenario, stores, clock)
  const types = new Set(scenario.reports.map(({ type }) => type))
  expect(dispatch.deliveries[0]?.feedback?.map(({ kind, at }) => ({ kind, at }))).toEqual(expectedFeedback(scenario))
  expect(suppressed).toEqual([
    ...(types.has('hard') ? ['bounced'] : []),
    ...(types.has('complained') ? ['complained'] : []),
  ])
  expect(wrong).toBe(0)
  const [mail, text] = dispatch.deliveries
  const isBounced = types.has('hard') || types.has('soft')
  if (isBounced) expect([text?.status, chats > 0]).toEqual(['sent', true])
  else if (!types.has('complained')) {
    expect([mail?.status, text?.status, text?.reason]).toEqual(['sent', 'skipped', 'fallback_unneeded'])
    expect(chats).toBe(0)
  }
  expect(dispatch.status).toBe('sent')
}

describe('sends, settlements, crashes and feedback in any order', { timeout: TIMEOUT_MS }, () => {
  it('In memory they give the same record', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const clock = fakeClock(START)
        const store = memoryStore({ clock })
        await check(scenario, [store, store], clock)
      }),
      { numRuns: runs(500) },
    )
  })

  const opened: TestDatabase[] = []
  afterAll(() => Promise.all(opened.map((database) => database.close())))

  for (const kind of kinds)
    it.skipIf(kind.absent)(`In ${kind.name} they give the same record`, async () => {
      const database = await kind.open()
      opened.push(database)
      const [one, other] = [database.connect(), database.connect()]
      await sqlStore({ db: one, dialect: kind.name }).migrate()
      await fc.assert(
        fc.asyncProperty(scenarios, async (scenario) => {
          const clock = fakeClock(START)
          const stores = [one, other].map((db) => sqlStore({ db, dialect: kind.name, clock, timeoutMs: UNHURRIED_MS }))
          await check(scenario, stores, clock)
        }),
        { numRuns: runs(40) },
      )
    })
})
