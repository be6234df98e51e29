import { expect, test } from 'vitest'
import { isRefused, type Refused } from '../../../src/core/answers/result.ts'
import {
  filterChannels,
  type Plan,
  type PlannedDelivery,
  planDispatch,
} from '../../../src/core/dispatch/plan/plan-dispatch.ts'
import { planRequest } from '../../../src/core/dispatch/plan/plan-request.ts'
import { recordingLogger, testDeps } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc, runs } from '../../support/properties.ts'
import { post, stored } from '../dispatch/dispatching.ts'
import {
  catalogOf,
  channelsOf,
  isRendered,
  NOW,
  nameOf,
  type Planned,
  planned,
  policyOf,
  verdictsOf,
} from './planned-events.ts'

const recipient = { id: 'user_1' }
const RUNS = { numRuns: runs(1_000) }
const DRY_RUNS = runs(500)

/** The plan of an event, with all channels but `without`. */
async function planOf(one: Planned, { sandbox = false, without = -1 } = {}): Promise<Plan | Refused> {
  const event = catalogOf(one).find('e')
  if (!event) throw new Error('the event is not there')
  const facts = { data: {}, recipient, events: [{}] }
  const entries = event.channels.filter((_, at) => at !== without)
  const filtered = filterChannels(event, entries, facts, channelsOf(one), [])
  const verdicts = verdictsOf(one).filter((_, at) => at !== without)
  const clock = fakeClock(NOW)
  return planDispatch({
    event,
    sandbox,
    facts,
    filtered,
    channels: channelsOf(one),
    verdicts,
    now: NOW,
    delayMs: event.delayMs,
    clock,
    faults: [],
  })
}

/** The deliveries of a plan; fast-check skips refused plans. */
function deliveriesOf(plan: Plan | Refused): readonly PlannedDelivery[] {
  fc.pre(!isRefused(plan))
  return isRefused(plan) ? [] : plan.deliveries
}

const isSendable = ({ status }: PlannedDelivery): boolean => status === 'queued' || status === 'held'

test('The same input gives the same plan, with one delivery per channel in their order', async () => {
  await fc.assert(
    fc.asyncProperty(planned, async (one) => {
      expect(await planOf(one)).toEqual(await planOf(one))
      expect(deliveriesOf(await planOf(one)).map(({ channel }) => channel)).toEqual(
        one.behaviours.map((_, at) => nameOf(at)),
      )
    }),
    RUNS,
  )
})

test('A plan is refused exactly when a message to be sent needs missing data', async () => {
  await fc.assert(
    fc.asyncProperty(planned, async (one) => {
      const misses = one.behaviours.filter(({ template }) => template === 'reads missing data')
      expect(isRefused(await planOf(one))).toBe(misses.some((behaviour) => isRendered(one, behaviour)))
    }),
    RUNS,
  )
})

test('A channel is sendable exactly when its condition, address, policy and template allow it', async () => {
  await fc.assert(
    fc.asyncProperty(planned, async (one) => {
      const fits = one.behaviours.map((own) => isRendered(one, own) && own.template === 'renders')
      expect(deliveriesOf(await planOf(one)).map(isSendable)).toEqual(fits)
    }),
    RUNS,
  )
})

test('The route first queues the first sendable channel and holds the others; the route all holds none', async () => {
  await fc.assert(
    fc.asyncProperty(planned, async (one) => {
      const sendable = deliveriesOf(await planOf(one)).filter(isSendable)
      const expected = sendable.map((_, at) => (one.route === 'first' && at > 0 ? 'held' : 'queued'))
      expect(sendable.map(({ status }) => status)).toEqual(expected)
    }),
    RUNS,
  )
})

test('A failed or skipped channel does not change the plan of the others', async () => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(planned, async (one) => {
      const all = deliveriesOf(await planOf(one))
      for (const [at, delivery] of all.entries()) {
        if (isSendable(delivery)) continue
        compared++
        expect(await planOf(one, { without: at })).toMatchObject({
          deliveries: all.filter((other) => other !== delivery),
        })
        expect(deliveriesOf(await planOf(one, { without: at }))).toEqual(all.filter((other) => other !== delivery))
      }
    }),
    RUNS,
  )
  expect(compared).toBeGreaterThan(RUNS.numRuns / 2)
})

test('A plan in sandbox mode skips sendable channels as sandboxed and changes no others', async () => {
  await fc.assert(
    fc.asyncProperty(planned, async (one) => {
      const sandboxed = deliveriesOf(await planOf(one, { sandbox: true }))
      const expected = deliveriesOf(await planOf(one)).map((delivery) => {
        if (delivery.status !== 'queued' && delivery.status !== 'held') return delivery
        const { channel, address, content } = delivery
        return { channel, status: 'skipped', reason: 'sandboxed', address, content }
      })
      expect(sandboxed).toEqual(expected)
    }),
    RUNS,
  )
})

test('A named channel is planned alone, as it is planned among the others', async () => {
  await fc.assert(
    fc.asyncProperty(planned, fc.nat(), async (one, place) => {
      const event = catalogOf(one).find('e')
      if (!event) throw new Error('the event is not there')
      const all = deliveriesOf(await planOf(one))
      const at = place % all.length
      const request = { eventType: 'e', recipient: recipient.id, channel: nameOf(at) }
      const scope = { tenant: 'default', session: undefined, now: NOW, delayMs: undefined }
      const recipients = { find: async () => recipient }
      const ports = { channels: channelsOf(one), policy: policyOf(one), recipients }
      const deps = { ...ports, clock: fakeClock(NOW), logger: recordingLogger() }
      const [named, ...more] = deliveriesOf(await planRequest(event, request, scope, deps, []))
      expect(more).toEqual([])
      const among = all[at]
      // A named channel waits for no other channel.
      if (one.route === 'all' || among?.status !== 'held') expect(named).toEqual(among)
      else expect(named).toMatchObject({ status: 'queued', address: among.address, content: among.content })
    }),
    RUNS,
  )
})

test('A dry run shows the plan that the dispatch stores', async () => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(planned, fc.boolean(), async (one, sandbox) => {
      const recipients = { find: async () => recipient }
      const rest = { events: catalogOf(one), policy: policyOf(one), recipients, sandbox }
      const deps = { ...testDeps(channelsOf(one), rest), clock: fakeClock(NOW) }
      const body = { eventType: 'e', recipient: recipient.id }
      const dry = await post(deps, body, {}, { dryRun: 'true' })
      expect(await stored(deps)).toEqual([])
      const real = await post(deps, body)
      expect([dry.ok, dry.ok ? 202 : dry.body.code]).toEqual([real.ok, real.ok ? real.status : real.body.code])
      const [dispatch] = await stored(deps)
      expect(dispatch === undefined).toBe(!real.ok)
      if (!dry.ok || !real.ok || !dispatch) return
      compared++
      expect(dry.body.status).toBe(real.body.status)
      expect(dry.body.deliveries.map(({ status, reason, nextAttemptAt }) => [status, reason, nextAttemptAt])).toEqual(
        real.body.deliveries.map(({ status, reason, nextAttemptAt }) => [status, reason, nextAttemptAt]),
      )
      // The content of a digest is rendered after its window.
      const isDigested = one.digest && !sandbox
      const contents = dispatch.deliveries.map(({ content }) => content)
      if (!isDigested)
        expect(dry.body.deliveries.map((own) => ('content' in own ? own.content : undefined))).toEqual(contents)
    }),
    { numRuns: DRY_RUNS },
  )
  expect(compared).toBeGreaterThan(DRY_RUNS / 2)
})
