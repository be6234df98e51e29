import { describe, expect, it } from 'vitest'
import { swapRemoveList } from '../../../src/core/delivery/swap-remove-list.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import type { DeliveryPolicy, PolicyQuestion, Verdict } from '../../../src/ports/delivery-policy.ts'
import type { RecipientDirectory } from '../../../src/ports/recipient-directory.ts'
import type { TestDeps } from '../../support/deps.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'
import { claimOne, outcomes } from '../dispatch/dispatching.ts'
import { attempt, attemptClaimed, BODY, delivery, depsFor, LEASE, leased, pass, waitForDue } from './attempting.ts'

const SEND: Verdict = { verdict: 'send' }
const DAY = 86_400_000

interface PolicyApp {
  readonly a: RecordingChannel
  readonly deps: TestDeps
  readonly questions: PolicyQuestion[]
}

/** An app with a due delivery; from now on `give` answers for the policy, and questions are recorded. */
async function policyApp(
  give: (question: PolicyQuestion) => unknown,
  rest: Parameters<typeof depsFor>[1] = {},
  answers?: readonly SendOutcome[],
): Promise<PolicyApp> {
  const a = recordingChannel(answers, { retrySchedule: [1_000, 1_000] })
  const questions: PolicyQuestion[] = []
  let planning = true
  const policy: DeliveryPolicy = {
    decide(question) {
      if (planning) return SEND
      questions.push(question)
      return give(question) as Verdict
    },
  }
  const deps = await depsFor(a, { policy, ...rest })
  planning = false
  return { a, deps, questions }
}

/** The same after a delay of ten seconds: the policy is asked again. */
async function deferred(
  give: (question: PolicyQuestion) => unknown,
  rest: Parameters<typeof depsFor>[1] = {},
): Promise<PolicyApp> {
  const events = defineEvents({ e: { delayMs: 10_000, channels: { a: {} } } })
  const own = await policyApp(give, { events, ...rest })
  own.deps.clock.advance(10_000)
  return own
}

describe('the policy', () => {
  it('The policy is not asked again about a fresh delivery', async () => {
    const { deps, questions } = await policyApp(() => ({ verdict: 'skip', reason: 'opted_out' }))
    expect(await attempt(deps)).toBe('sent')
    expect(questions).toEqual([])
  })

  it('The policy is asked again after a delivery has waited over a minute', async () => {
    const { a, deps, questions } = await policyApp(() => ({ verdict: 'skip', reason: 'opted_out' }))
    deps.clock.advance(60_001)
    expect(await attempt(deps)).toBe('skipped')
    expect([a.sent, questions.length]).toEqual([[], 1])

    const soon = await policyApp(() => ({ verdict: 'skip', reason: 'opted_out' }))
    soon.deps.clock.advance(60_000)
    expect(await attempt(soon.deps)).toBe('sent')
  })

  it.each([
    [60_000, 0],
    [60_001, 1],
  ])(
    'A wait of %d ms by the clock of the store asks the policy %d times, whatever the local clock',
    async (waitedMs, asks) => {
      for (const skewMs of [-DAY, DAY]) {
        const { deps, questions } = await policyApp(() => SEND)
        const claimed = await claimOne(deps, LEASE)
        const dispatch = { ...claimed.dispatch, createdAt: claimed.dispatch.createdAt + skewMs }
        await attemptClaimed({ ...claimed, waitedMs, dispatch }, leased(deps), deps)
        expect(questions).toHaveLength(asks)
      }
    },
  )

  it('The policy is asked again about a deferred delivery when it is due', async () => {
    const { a, deps, questions } = await deferred(() => SEND)
    expect(await attempt(deps)).toBe('sent')
    expect(a.sent).toHaveLength(1)
    expect(questions).toEqual([
      {
        tenant: 'default',
        eventType: 'e',
        category: 'e',
        critical: false,
        channel: 'a',
        recipient: { id: 'jane@example.com', email: 'jane@example.com' },
        at: deps.clock.now(),
      },
    ])
  })

  it('The policy is asked again before every further attempt', async () => {
    const { deps, questions } = await policyApp(() => SEND, {}, [{ outcome: 'retry', code: 'busy' }])
    for (const asks of [0, 1, 2]) {
      await attempt(deps)
      expect(questions).toHaveLength(asks)
      deps.clock.advance(2_000)
    }
  })

  it('The policy knows which deliveries are critical', async () => {
    const events = defineEvents({ e: { delayMs: 10_000, critical: true, channels: { a: {} } } })
    const { deps, questions } = await deferred(() => SEND, { events })
    await attempt(deps)
    expect(questions).toMatchObject([{ critical: true }])
  })

  it.each(['opted_out', 'throttled'])('The policy may skip a delivery with the reason %s', async (reason) => {
    const { a, deps } = await deferred(() => ({ verdict: 'skip', reason }))
    expect(await attempt(deps)).toBe('skipped')
    expect(a.sent).toEqual([])
    expect(await outcomes(deps)).toEqual([`a: skipped ${reason} 0`])
    expect((await delivery(deps)).attemptLog).toEqual([])
  })

  it.each([
    [60_000, 60_000],
    [0.5, 1_000],
    [999, 1_000],
    [1_000.5, 1_001],
    [40 * DAY, 31 * DAY],
  ])('A deferral by %d ms makes the delivery due in %d ms, without an attempt', async (ms, dueInMs) => {
    const { a, deps } = await deferred(({ at }) => ({ verdict: 'defer', until: at + ms, limits: [] }), {
      expiresInMs: 60 * DAY,
    })
    expect(await attempt(deps)).toBe('released')
    expect(a.sent).toEqual([])
    expect(await delivery(deps)).toMatchObject({ status: 'queued', attempts: 0, dueAt: deps.clock.now() + dueInMs })
  })

  it.each<[string, (question: PolicyQuestion) => unknown]>([
    ['defers by a day', ({ at }) => ({ verdict: 'defer', until: at + DAY })],
    ['throws', () => Promise.reject(new RangeError())],
  ])('A policy that %s makes the delivery due no later than its expiry', async (_, give) => {
    const { a, deps } = await deferred(give, { expiresInMs: 20_000 })
    deps.clock.advance(5_000)
    expect(await attempt(deps)).toBe('released')
    expect(await waitForDue(deps)).toBe(15_000)
    expect((await deps.store.claim({ leaseMs: LEASE, limits: { a: 1 }, busy: [] })).expired).toHaveLength(1)
    expect(a.sent).toEqual([])
  })

  it('The time of the policy counts against the expiry', async () => {
    const { deps } = await deferred(
      ({ at }) => {
        deps.clock.advance(6_000)
        return { verdict: 'defer', until: at + DAY }
      },
      { expiresInMs: 20_000 },
    )
    await attempt(deps)
    expect(await waitForDue(deps)).toBe(14_000)
  })

  it('A policy that has not answered at a stop is no error, and the delivery is due at once', async () => {
    const { deps } = await deferred(() => new Promise(() => {}))
    const stops = swapRemoveList<() => void>()
    const result = attempt(deps, { stops })
    await pass(deps.clock, 1)
    for (const stop of stops) stop()
    await pass(deps.clock, 1_000)
    expect(await result).toBe('released')
    expect(await waitForDue(deps)).toBe(0)
    expect(deps.logger.lines).toMatchObject([{ event: 'delivery.queued', fields: { delayMs: 0 } }])
  })

  it.each([0, -1])('A deferral by %d ms sends the delivery', async (ms) => {
    const { deps } = await deferred(({ at }) => ({ verdict: 'defer', until: at + ms }))
    expect(await attempt(deps)).toBe('sent')
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new RangeError('jane')
      },
    ],
    ['rejects', () => Promise.reject(new RangeError('jane'))],
    ['gives nothing', () => undefined],
    ['gives an unknown verdict', () => ({ verdict: 'maybe' })],
    ['skips without a reason', () => ({ verdict: 'skip' })],
    ['defers to an invalid time', () => ({ verdict: 'defer', until: Number.NaN })],
  ])('A policy that %s delays the delivery by 30 seconds and is logged', async (_, give) => {
    const { a, deps } = await deferred(give)
    expect(await attempt(deps)).toBe('released')
    expect(a.sent).toEqual([])
    expect(await delivery(deps)).toMatchObject({ status: 'queued', attempts: 0, dueAt: deps.clock.now() + 30_000 })
    expect(deps.logger.lines).toMatchObject([
      {
        level: 'error',
        event: 'delivery.policy_unavailable',
        fields: { deliveryId: 'dlv_2', dispatchId: 'dsp_1', channel: 'a', cause: expect.any(String) },
      },
      { event: 'delivery.queued', fields: { delayMs: 30_000 } },
    ])
    expect(JSON.stringify(deps.logger.lines)).not.toContain('jane')
  })

  it('A delivery waits when the policy never answers, and its slot is freed', async () => {
    const { a, deps } = await deferred(() => new Promise(() => {}))
    const result = attemptClaimed(await claimOne(deps, LEASE), leased(deps), deps, { timeoutMs: 5_000 })
    await pass(deps.clock, 6_000)
    expect(await result).toBe('released')
    expect(a.sent).toEqual([])
    expect(deps.logger.lines).toMatchObject([{ fields: { causeCode: 'send_timeout' } }, {}])
  })
})

describe('the recipient in a policy question', () => {
  const person = { id: 'user_42', email: 'jane@example.com', timeZone: 'Europe/Vienna' }

  async function lookedUp(find: RecipientDirectory['find']): Promise<PolicyApp> {
    const events = defineEvents({ e: { delayMs: 10_000, channels: { a: {} } } })
    let now: RecipientDirectory['find'] = async () => person
    const recipients: RecipientDirectory = { find: (...args) => now(...args) }
    const questions: PolicyQuestion[] = []
    const policy: DeliveryPolicy = {
      decide(question) {
        questions.push(question)
        return SEND
      },
    }
    const a = recordingChannel()
    const deps = await depsFor(a, { events, policy, recipients, body: { ...BODY, recipient: 'user_42' } })
    deps.clock.advance(10_000)
    questions.length = 0
    now = find
    return { a, deps, questions }
  }

  it('The policy receives the current recipient', async () => {
    const { deps, questions } = await lookedUp(async (id, tenant) => ({ ...person, attributes: { id, tenant } }))
    expect(await attempt(deps)).toBe('sent')
    expect(questions).toMatchObject([{ recipient: { ...person, attributes: { id: 'user_42', tenant: 'default' } } }])
  })

  it.each([undefined, null])('A recipient that the directory no longer knows (%j) is skipped', async (none) => {
    const { a, deps, questions } = await lookedUp(async () => none as undefined)
    expect(await attempt(deps)).toBe('skipped')
    expect([a.sent, questions]).toEqual([[], []])
    expect(await outcomes(deps)).toEqual(['a: skipped no_address 0'])
    expect(deps.logger.lines).toMatchObject([{ event: 'delivery.skipped', fields: { reason: 'no_address' } }])
    expect(JSON.stringify(deps.logger.lines)).not.toMatch(/user_42|jane/)
  })

  it('The policy receives the bare id where there is no directory', async () => {
    const { deps, questions } = await lookedUp(async () => person)
    const { recipients: _, ...without } = deps
    expect(await attempt(without)).toBe('sent')
    expect(questions).toMatchObject([{ recipient: { id: 'user_42' } }])
  })

  it.each<[string, RecipientDirectory['find'], unknown]>([
    ['throws', () => Promise.reject(new TypeError('jane')), 'TypeError'],
    [
      'gives an invalid recipient',
      async () => ({ id: 42 }) as never,
      expect.stringContaining('id (a number); return '),
    ],
  ])('A delivery waits while the directory %s', async (_, find, cause) => {
    const { a, deps, questions } = await lookedUp(find)
    expect(await attempt(deps)).toBe('released')
    expect([a.sent, questions]).toEqual([[], []])
    expect(deps.logger.lines).toMatchObject([
      { level: 'error', event: 'delivery.policy_unavailable', fields: { cause } },
      {},
    ])
  })

  it('The recipient is not looked up without a policy', async () => {
    let finds = 0
    const find = async () => {
      finds++
      return person
    }
    const events = defineEvents({ e: { delayMs: 10_000, channels: { a: {} } } })
    const deps = await depsFor(recordingChannel(), {
      events,
      recipients: { find },
      body: { ...BODY, recipient: 'user_42' },
    })
    deps.clock.advance(10_000)
    expect(await attempt(deps)).toBe('sent')
    expect(finds).toBe(1)
  })
})
