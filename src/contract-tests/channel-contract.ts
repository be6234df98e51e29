import { equal, ok } from './assertions.ts'
import {
  behave,
  type ChannelTrial,
  contextOf,
  expectDiscreet,
  expectOutcome,
  type Failure,
  frozen,
  messageOf,
  receivedBy,
  settle,
  trySend,
  wordOf,
} from './channel-trial.ts'
import { type ContractCase, type ContractOptions, type ContractSubject, casesOf, registerCases } from './contract.ts'

/** Capabilities of a channel and its trial. Cases that need a missing one are skipped. */
export interface ChannelCapabilities {
  /** `unreachable` exists: some recipients have no address. Default: `true`. */
  readonly unreachable?: boolean
  /** `received` exists. Default: `true`. */
  readonly received?: boolean
  /** Received messages have an `idempotencyKey`. Default: `true`. */
  readonly idempotencyKey?: boolean
  /** The channel obeys the abort signal. Default: `true`. */
  readonly abort?: boolean
  /** Existing behaviours of the provider. Default of each: `true`. */
  readonly reject?: boolean
  readonly retry?: boolean
  readonly unknown?: boolean
  readonly hang?: boolean
}

/** Options of {@link channelContract}. */
export interface ChannelContractOptions extends ContractOptions {
  /** Returns a channel with its own provider for each case. */
  readonly create: () => ChannelTrial | Promise<ChannelTrial>
  readonly capabilities?: ChannelCapabilities
}

const CHANNEL: ContractSubject<ChannelCapabilities> = {
  name: 'channel',
  defaults: {
    ...{ unreachable: true, received: true, idempotencyKey: true, abort: true },
    ...{ reject: true, retry: true, unknown: true, hang: true },
  },
}

const channelCases = casesOf<ChannelTrial, ChannelCapabilities>

const OUTCOME_OF = { reject: 'rejected', retry: 'retry', unknown: 'unknown' } as const
const FAILURES: readonly Failure[] = ['reject', 'retry', 'unknown']

const failureCases = FAILURES.flatMap((failure) => {
  const outcome = OUTCOME_OF[failure]
  return channelCases([failure], {
    [`a failure of the kind ${outcome} gives the outcome ${outcome}, without secrets, and later sends succeed`]: async (
      t,
    ) => {
      await behave(t, failure)
      const settled = await settle(trySend(t))
      expectDiscreet(t, 'thrown' in settled ? settled.thrown : settled.outcome)
      if ('outcome' in settled) {
        expectOutcome(settled.outcome)
        equal(settled.outcome.outcome, outcome)
      } else equal(failure, 'retry', 'a channel throws only where the message was certainly not sent')
      await behave(t, 'succeed')
      // A worker waits as long as the provider requests.
      const mustWait = 'outcome' in settled && 'retryAfterMs' in settled.outcome
      if (!mustWait) equal((await trySend(t, 0, 2)).outcome, 'sent')
      equal((await trySend(t, 1)).outcome, 'sent')
    },
  })
})

const CASES: readonly ContractCase<ChannelTrial, ChannelCapabilities>[] = [
  ...channelCases([], {
    'a reachable recipient has the same address every time': async (t) => {
      const address = t.channel.address(frozen(t.recipient))
      ok(typeof address === 'string' && address !== '', 'the address is a text')
      for (let times = 0; times < 3; times++) equal(t.channel.address(structuredClone(t.recipient)), address)
    },
    'address returns a text or undefined for any recipient': async (t) => {
      for (const id of ['user_1', '__proto__', '', 'ü\u2028', 'x'.repeat(2_048), 'a@example.test', '+15005550006'])
        for (const recipient of [
          { id },
          { id, addresses: {}, attributes: {} },
          { id, email: '', phone: '', url: '' },
        ]) {
          const address = t.channel.address(frozen(recipient))
          ok(address === undefined || typeof address === 'string', 'the address is a text or none')
        }
    },
    'send returns sent when the provider accepts the message': async (t) => {
      const outcome = await trySend(t)
      expectOutcome(outcome)
      equal(outcome.outcome, 'sent')
    },
    'send does not change its arguments, and accepts optional ones': async (t) => {
      const message = frozen({ ...messageOf(t, 0), locale: 'de-AT' })
      expectOutcome(await t.channel.send(message, contextOf(0, 3)))
    },
    'send of an invalid address or content gives an outcome, or an error without it': async (t) => {
      const message = messageOf(t, 0)
      const odd = [{ to: 'no address\u0000\r\n' }, { content: {} }, { content: { subject: 7, text: [] } }]
      for (const change of odd) {
        const settled = await settle(t.channel.send({ ...message, ...change }, contextOf(0)))
        if ('outcome' in settled) expectOutcome(settled.outcome)
        else expectDiscreet(t, settled.thrown)
      }
    },
    'a retry schedule has ascending delays in milliseconds': async ({ channel: { retrySchedule = [] } }) => {
      for (const [at, ms] of retrySchedule.entries())
        ok(
          Number.isFinite(ms) && ms >= Math.max(0, retrySchedule[at - 1] ?? 0),
          `the delays of the retry schedule ascend: ${retrySchedule}`,
        )
    },
    'concurrencyKey returns the same text every time': async (t) => {
      const { to } = messageOf(t, 0)
      const keyOf = (): string | undefined => t.channel.concurrencyKey?.(to)
      ok(!t.channel.concurrencyKey || typeof keyOf() === 'string', 'the key is a text')
      equal(keyOf(), keyOf())
    },
    'copies returns the same addresses every time': async (t) => {
      const { content } = messageOf(t, 0)
      const copies = (): readonly string[] => t.channel.copies?.(content) ?? []
      ok(Array.isArray(copies()) && copies().every((each) => typeof each === 'string'), 'copies are a list of texts')
      equal(copies(), copies())
    },
    'checkFields accepts the fields that the channel sends': async (t) => {
      const check = (fields: readonly string[]): readonly string[] =>
        [t.channel.checkFields?.(frozen(fields)) ?? []].flat()
      equal(check(Object.keys(t.content(wordOf(0)))), [])
      for (const fields of [[], ['no_such_field'], ['__proto__', 'constructor'], ['']]) {
        const wrong = check(fields)
        ok(
          wrong.every((fault) => typeof fault === 'string' && fault !== ''),
          'checkFields returns a fault, a list of faults or undefined',
        )
        equal(check(fields), wrong)
      }
    },
  }),
  ...channelCases(['unreachable'], {
    'an unreachable recipient has no address': async (t) => {
      ok(t.unreachable, '`create` returned no `unreachable`: return one, or set `unreachable: false`')
      equal(t.channel.address(frozen(t.unreachable)), undefined)
    },
  }),
  ...channelCases(['received'], {
    'a sent message arrives once, with its content': async (t) => {
      await trySend(t)
      const received = receivedBy(t)
      equal(received.length, 1)
      ok(received[0]?.text.includes(wordOf(0)), 'the received text contains the content')
    },
    'concurrent sends stay separate': async (t) => {
      const count = 10
      const numbers = Array.from({ length: count }, (_, at) => at)
      const outcomes = await Promise.all(numbers.map((at) => trySend(t, at)))
      equal(
        outcomes.map(({ outcome }) => outcome),
        numbers.map(() => 'sent'),
      )
      const received = [...receivedBy(t)]
      equal(received.length, count)
      for (const at of numbers) {
        const ofIt = received.filter(({ text }) => text.includes(wordOf(at)))
        equal(ofIt.length, 1, 'each message arrives once')
        await trySend(t, at, 2)
        equal(
          receivedBy(t).at(-1)?.idempotencyKey,
          ofIt[0]?.idempotencyKey,
          'each message arrives with its own idempotency key',
        )
      }
      const keys = received.flatMap(({ idempotencyKey }) => idempotencyKey ?? [])
      equal(new Set(keys).size, keys.length)
    },
  }),
  ...channelCases(['received', 'idempotencyKey'], {
    'the idempotency key is the same for all attempts of a delivery, and unique to it': async (t) => {
      await trySend(t, 0)
      await trySend(t, 0, 2)
      await trySend(t, 1)
      const [first, second, other] = receivedBy(t).map(({ idempotencyKey }) => idempotencyKey)
      ok(first, 'the provider receives an idempotency key')
      equal(second, first)
      ok(other && other !== first, 'another delivery has another idempotency key')
    },
  }),
  ...channelCases(['abort'], {
    'send does nothing when its signal is aborted before': async (t) => {
      const settled = await settle(t.channel.send(messageOf(t, 0), contextOf(0, 1, AbortSignal.abort('timeout'))))
      if ('outcome' in settled) {
        expectOutcome(settled.outcome)
        ok(['retry', 'unknown'].includes(settled.outcome.outcome), 'the outcome allows another attempt')
      }
      equal(t.received?.() ?? [], [])
    },
  }),
  ...channelCases(['abort', 'hang'], {
    'send that is aborted after the provider took the message returns unknown': async (t) => {
      const hanging = t.outcomes?.hang?.()
      ok(hanging, '`create` returned no `outcomes.hang`: return one, or set `hang: false`')
      const ending = new AbortController()
      const sending = settle(t.channel.send(messageOf(t, 0), contextOf(0, 1, ending.signal)))
      await hanging.taken
      ending.abort('timeout')
      const settled = await sending
      ok('outcome' in settled, 'a channel throws only where the message was certainly not sent')
      expectOutcome(settled.outcome)
      equal(settled.outcome.outcome, 'unknown')
      expectDiscreet(t, settled.outcome)
    },
  }),
  ...failureCases,
]

/** Tests a `Channel`: registers a case per guarantee of the port with your test runner. */
export function channelContract(options: ChannelContractOptions): void {
  registerCases('channelContract', CHANNEL, CASES, options)
}
