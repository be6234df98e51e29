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
import { type ContractCase, type ContractOptions, type ContractSubject, registerCases } from './contract.ts'

/** What a trial of a channel has: a case that needs what it has not is skipped. */
export interface ChannelCapabilities {
  /** There is an `unreachable`: not everybody is reached. Default: `true`. */
  readonly unreachable?: boolean
  /** There is a `received`. Default: `true`. */
  readonly received?: boolean
  /** What is received has an `idempotencyKey`. Default: `true`. */
  readonly idempotencyKey?: boolean
  /** The channel heeds the signal that it is given. Default: `true`. */
  readonly abort?: boolean
  /** Which outcomes there are. Default, for each: `true`. */
  readonly reject?: boolean
  readonly retry?: boolean
  readonly unknown?: boolean
  readonly hang?: boolean
}

/** Which channel is tried, and how. */
export interface ChannelContractOptions extends ContractOptions {
  readonly create: () => ChannelTrial | Promise<ChannelTrial>
  readonly capabilities?: ChannelCapabilities
}

type ChannelCase = ContractCase<ChannelTrial, ChannelCapabilities>

const CHANNEL: ContractSubject<ChannelCapabilities> = {
  name: 'channel',
  defaults: {
    ...{ unreachable: true, received: true, idempotencyKey: true, abort: true },
    ...{ reject: true, retry: true, unknown: true, hang: true },
  },
}

const OUTCOME_OF = { reject: 'rejected', retry: 'retry', unknown: 'unknown' } as const
const FAILURES: readonly Failure[] = ['reject', 'retry', 'unknown']

/** A failure of which everything is as it should be. */
function failing(failure: Failure): ChannelCase {
  return {
    name: `a provider that gives reason for ${OUTCOME_OF[failure]} gives that outcome, tells no secrets, and holds up nothing after it`,
    needs: [failure],
    async run(trial) {
      await behave(trial, failure)
      const settled = await settle(trySend(trial))
      expectDiscreet(trial, 'thrown' in settled ? settled.thrown : settled.outcome)
      if ('outcome' in settled) {
        expectOutcome(settled.outcome)
        equal(settled.outcome.outcome, OUTCOME_OF[failure])
      } else equal(failure, 'retry', 'to throw means that it was certainly not sent')
      await behave(trial, 'succeed')
      // Where the provider asked for a wait, a worker comes no sooner.
      const mustWait = 'outcome' in settled && 'retryAfterMs' in settled.outcome
      if (!mustWait) equal((await trySend(trial, 0, 2)).outcome, 'sent')
      equal((await trySend(trial, 1)).outcome, 'sent')
    },
  }
}

const CASES: readonly ChannelCase[] = [
  {
    name: 'a recipient who can be reached has an address, the same each time',
    async run({ channel, recipient }) {
      const address = channel.address(frozen(recipient))
      ok(typeof address === 'string' && address !== '', 'the address is a text')
      for (let times = 0; times < 3; times++) equal(channel.address(structuredClone(recipient)), address)
    },
  },
  {
    name: 'a recipient who cannot be reached has no address',
    needs: ['unreachable'],
    async run({ channel, unreachable }) {
      ok(unreachable, 'the trial has a recipient who cannot be reached, or declares that there is none')
      equal(channel.address(frozen(unreachable)), undefined)
    },
  },
  {
    name: 'of a recipient of whom little is known, the address is a text or none',
    async run({ channel }) {
      for (const id of ['user_1', '__proto__', '', 'ü\u2028', 'x'.repeat(2_048), 'a@example.test', '+15005550006'])
        for (const recipient of [
          { id },
          { id, addresses: {}, attributes: {} },
          { id, email: '', phone: '', url: '' },
        ]) {
          const address = channel.address(frozen(recipient))
          ok(address === undefined || typeof address === 'string', 'the address is a text or none')
        }
    },
  },
  {
    name: 'a message that the provider takes is sent',
    async run(trial) {
      const outcome = await trySend(trial)
      expectOutcome(outcome)
      equal(outcome.outcome, 'sent')
    },
  },
  {
    name: 'what is sent arrives once, and says what it is to say',
    needs: ['received'],
    async run(trial) {
      await trySend(trial)
      const received = receivedBy(trial)
      equal(received.length, 1)
      ok(received[0]?.text.includes(wordOf(0)), 'what arrived has the word of the content in it')
    },
  },
  {
    name: 'the delivery id goes along, the same for every attempt and another for every delivery',
    needs: ['received', 'idempotencyKey'],
    async run(trial) {
      await trySend(trial, 0)
      await trySend(trial, 0, 2)
      await trySend(trial, 1)
      const [first, second, other] = receivedBy(trial).map(({ idempotencyKey }) => idempotencyKey)
      ok(first, 'the provider is given something to recognise a repeat by')
      equal(second, first)
      ok(other && other !== first, 'another delivery is no repeat')
    },
  },
  {
    name: 'many sends at once do not mix',
    needs: ['received'],
    async run(trial) {
      const count = 10
      const numbers = Array.from({ length: count }, (_, at) => at)
      const outcomes = await Promise.all(numbers.map((at) => trySend(trial, at)))
      equal(
        outcomes.map(({ outcome }) => outcome),
        numbers.map(() => 'sent'),
      )
      const received = [...receivedBy(trial)]
      equal(received.length, count)
      for (const at of numbers) {
        const ofIt = received.filter(({ text }) => text.includes(wordOf(at)))
        equal(ofIt.length, 1, 'each arrives once')
        await trySend(trial, at, 2)
        equal(receivedBy(trial).at(-1)?.idempotencyKey, ofIt[0]?.idempotencyKey, 'each arrives with a key of its own')
      }
      const keys = received.flatMap(({ idempotencyKey }) => idempotencyKey ?? [])
      equal(new Set(keys).size, keys.length)
    },
  },
  {
    name: 'a send changes nothing of what it is given, and takes what may be there beside',
    async run(trial) {
      const message = frozen({ ...messageOf(trial, 0), locale: 'de-AT' })
      expectOutcome(await trial.channel.send(message, contextOf(0, 3)))
    },
  },
  {
    name: 'an address or a content that is none gives an outcome, or is thrown for without a word of it',
    async run(trial) {
      const message = messageOf(trial, 0)
      const odd = [{ to: 'no address\u0000\r\n' }, { content: {} }, { content: { subject: 7, text: [] } }]
      for (const change of odd) {
        const settled = await settle(trial.channel.send({ ...message, ...change }, contextOf(0)))
        if ('outcome' in settled) expectOutcome(settled.outcome)
        else expectDiscreet(trial, settled.thrown)
      }
    },
  },
  ...FAILURES.map(failing),
  {
    name: 'nothing is sent when the time for it is over before it begins',
    needs: ['abort'],
    async run(trial) {
      const settled = await settle(
        trial.channel.send(messageOf(trial, 0), contextOf(0, 1, AbortSignal.abort('timeout'))),
      )
      if ('outcome' in settled) {
        expectOutcome(settled.outcome)
        ok(['retry', 'unknown'].includes(settled.outcome.outcome), 'it may be tried again')
      }
      equal(trial.received?.() ?? [], [])
    },
  },
  {
    name: 'a send ends when its time is over, and what the provider may have taken may have been sent',
    needs: ['abort', 'hang'],
    async run(trial) {
      const hanging = trial.outcomes?.hang?.()
      ok(hanging, 'the trial has the outcome hang, or declares that it has not')
      const ending = new AbortController()
      const sending = settle(trial.channel.send(messageOf(trial, 0), contextOf(0, 1, ending.signal)))
      await hanging.taken
      ending.abort('timeout')
      const settled = await sending
      ok('outcome' in settled, 'to throw would mean that it was certainly not sent')
      expectOutcome(settled.outcome)
      equal(settled.outcome.outcome, 'unknown')
      expectDiscreet(trial, settled.outcome)
    },
  },
  {
    name: 'a retry schedule is milliseconds, none less than the one before',
    async run({ channel: { retrySchedule = [] } }) {
      for (const [at, ms] of retrySchedule.entries())
        ok(Number.isFinite(ms) && ms >= Math.max(0, retrySchedule[at - 1] ?? 0), `${retrySchedule} ascends`)
    },
  },
  {
    name: 'the key of an address is a text, the same each time',
    async run(trial) {
      const { to } = messageOf(trial, 0)
      const keyOf = (): string | undefined => trial.channel.concurrencyKey?.(to)
      ok(!trial.channel.concurrencyKey || typeof keyOf() === 'string', 'the key is a text')
      equal(keyOf(), keyOf())
    },
  },
  {
    name: 'the fields that can be sent are found right, and others at most wrong',
    async run({ channel, content }) {
      const check = (fields: readonly string[]): string | undefined => channel.checkFields?.(frozen(fields))
      equal(check(Object.keys(content(wordOf(0)))), undefined)
      for (const fields of [[], ['no_such_field'], ['__proto__', 'constructor'], ['']]) {
        const wrong = check(fields)
        ok(wrong === undefined || (typeof wrong === 'string' && wrong !== ''), 'it says what is wrong, or nothing')
        equal(check(fields), wrong)
      }
    },
  },
]

/** Tries a channel: each sentence of `Channel` is one case or more, registered with your test runner. */
export function channelContract(options: ChannelContractOptions): void {
  registerCases('channelContract', CHANNEL, CASES, options)
}
