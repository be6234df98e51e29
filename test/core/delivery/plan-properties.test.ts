import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isRefused, type Refused } from '../../../src/core/answers/result.ts'
import {
  filterChannels,
  type Plan,
  type PlannedDelivery,
  planDispatch,
} from '../../../src/core/dispatch/plan/plan-dispatch.ts'
import { planRequest } from '../../../src/core/dispatch/plan/plan-request.ts'
import { testDeps } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
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
const RUNS = { numRuns: 1_000 }

/** The plan for some of the channels of an event: all, unless it is said which. */
async function planOf(one: Planned, { sandbox = false, without = -1 } = {}): Promise<Plan | Refused> {
  const event = catalogOf(one).find('e')
  if (!event) throw new Error('the event is not there')
  const facts = { data: {}, recipient, events: [{}] }
  const entries = event.channels.filter((_, at) => at !== without)
  const filtered = filterChannels(event, entries, facts, channelsOf(one), [])
  const verdicts = verdictsOf(one).filter((_, at) => at !== without)
  return planDispatch({ event, sandbox, facts, filtered, verdicts, now: NOW, delayMs: event.delayMs, faults: [] })
}

/** The deliveries of a plan that is not refused; fast-check passes over the others. */
function deliveriesOf(plan: Plan | Refused): readonly PlannedDelivery[] {
  fc.pre(!isRefused(plan))
  return isRefused(plan) ? [] : plan.deliveries
}

const isSendable = ({ status }: PlannedDelivery): boolean => status === 'queued' || status === 'held'

test('the same input gives the same plan, with one delivery for each channel asked for, in their order', async () => {
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

test('a plan is refused exactly when a message that would go out needs data that was not sent', async () => {
  await fc.assert(
    fc.asyncProperty(planned, async (one) => {
      const misses = one.behaviours.filter(({ template }) => template === 'reads what is not there')
      expect(isRefused(await planOf(one))).toBe(misses.some((behaviour) => isRendered(one, behaviour)))
    }),
    RUNS,
  )
})

test('a channel is to be sent exactly when nothing about it speaks against that', async () => {
  await fc.assert(
    fc.asyncProperty(planned, async (one) => {
      const fits = one.behaviours.map((own) => isRendered(one, own) && own.template === 'renders')
      expect(deliveriesOf(await planOf(one)).map(isSendable)).toEqual(fits)
    }),
    RUNS,
  )
})

test('of a route first the first that can be sent is queued and the others are held; of all none is', async () => {
  await fc.assert(
    fc.asyncProperty(planned, async (one) => {
      const sendable = deliveriesOf(await planOf(one)).filter(isSendable)
      const expected = sendable.map((_, at) => (one.route === 'first' && at > 0 ? 'held' : 'queued'))
      expect(sendable.map(({ status }) => status)).toEqual(expected)
    }),
    RUNS,
  )
})

test('a channel that fails or is skipped changes nothing for the others', async () => {
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
  expect(compared).toBeGreaterThan(500)
})

test('in the sandbox nothing is queued or held, and what is not to be sent is as ever', async () => {
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

test('a channel that is named is planned alone, as it would be among the others', async () => {
  await fc.assert(
    fc.asyncProperty(planned, fc.nat(), async (one, place) => {
      const event = catalogOf(one).find('e')
      if (!event) throw new Error('the event is not there')
      const all = deliveriesOf(await planOf(one))
      const at = place % all.length
      const request = { eventType: 'e', recipient: recipient.id, channel: nameOf(at) }
      const scope = { tenant: 'default', session: undefined, now: NOW, delayMs: undefined }
      const recipients = { find: async () => recipient }
      const deps = { channels: channelsOf(one), policy: policyOf(one), recipients }
      const [named, ...more] = deliveriesOf(await planRequest(event, request, scope, deps, []))
      expect(more).toEqual([])
      const among = all[at]
      // Named, it has no other to wait for, and the event's delay and what a policy says are its own.
      if (one.route === 'all' || among?.status !== 'held') expect(named).toEqual(among)
      else expect(named).toMatchObject({ status: 'queued', address: among.address, content: among.content })
    }),
    RUNS,
  )
})

test('a dry run shows what is then stored', async () => {
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
      // What a digest says is not known before its window is over.
      const isDigested = one.digest && !sandbox
      const contents = dispatch.deliveries.map(({ content }) => content)
      if (!isDigested)
        expect(dry.body.deliveries.map((own) => ('content' in own ? own.content : undefined))).toEqual(contents)
    }),
    { numRuns: 500 },
  )
  expect(compared).toBeGreaterThan(250)
})
