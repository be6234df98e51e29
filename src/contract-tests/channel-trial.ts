import type { Content } from '../model/dispatch.ts'
import type { Recipient } from '../model/recipient.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import { ok } from './assertions.ts'

/** A message as the provider received it. */
export interface ReceivedMessage {
  /** Omit it where the provider takes none. */
  readonly idempotencyKey?: string
  /** The whole content, as text. */
  readonly text: string
}

/** Each function sets how the provider treats messages from then on. */
export interface ProviderBehaviours {
  /** It accepts every message. Initial behaviour. */
  succeed?(): void | Promise<void>
  /** It rejects permanently. */
  reject?(): void | Promise<void>
  /** It certainly accepts no message, for now. */
  retry?(): void | Promise<void>
  /** It breaks the connection when it may have accepted the message. */
  unknown?(): void | Promise<void>
  /** It takes the message and never answers. `taken` resolves when it has one. */
  hang?(): { readonly taken: Promise<unknown> }
}

/** A channel for one case, with a provider of its own. */
export interface ChannelTrial {
  readonly channel: Channel
  /** A recipient with an address on this channel. */
  readonly recipient: Recipient
  /** A recipient without one. */
  readonly unreachable?: Recipient
  /** Content that contains this word. */
  content(word: string): Content
  readonly outcomes?: ProviderBehaviours
  /** The messages that the provider accepted, oldest first. */
  received?(): readonly ReceivedMessage[]
  /** Texts that no outcome or error may contain: keys, passwords, and answers of the provider. */
  readonly secrets?: readonly string[]
  /** Releases the channel after the case, also when the case failed. */
  close?(): void | Promise<void>
}

/** The failures of a provider. */
export type Failure = 'reject' | 'retry' | 'unknown'

/** The message of one delivery for each number. */
export function messageOf({ channel, recipient, content }: ChannelTrial, at: number): OutboundMessage {
  const to = channel.address(recipient)
  ok(to, 'the recipient has an address')
  const head = { eventType: 'order.shipped', dispatchId: `dsp_${at}`, tenant: 'acme', createdAt: 1_795_248_000_000 }
  return frozen({ to, content: content(wordOf(at)), ...head })
}

export function contextOf(
  at: number,
  attempt = 1,
  signal: SendContext['signal'] = new AbortController().signal,
): SendContext {
  const before = {
    startedAt: 1_795_248_000_000,
    endedAt: 1_795_248_000_100,
    outcome: 'unknown',
    code: 'timeout',
  } as const
  const history = Array.from({ length: attempt - 1 }, (_, index) => ({ attempt: index + 1, ...before }))
  return { ...frozen({ deliveryId: `dlv_${at}`, attempt, history }), signal }
}

export function trySend(trial: ChannelTrial, at = 0, attempt = 1): Promise<SendOutcome> {
  return trial.channel.send(messageOf(trial, at), contextOf(at, attempt))
}

/** A word for each number. No word is part of another. */
export function wordOf(at: number): string {
  return `word${1_000 + at}end`
}

/** Waits for a send. Returns its outcome, or what it threw. */
export async function settle(sending: Promise<SendOutcome>): Promise<{ outcome: SendOutcome } | { thrown: unknown }> {
  return sending.then(
    (outcome) => ({ outcome }),
    (thrown: unknown) => ({ thrown }),
  )
}

export async function behave({ outcomes }: ChannelTrial, as: 'succeed' | Failure): Promise<void> {
  const change = outcomes?.[as]
  ok(change, `\`create\` returned no \`outcomes.${as}\`: return one, or set \`${as}: false\``)
  await change.call(outcomes)
}

export function receivedBy(trial: ChannelTrial): readonly ReceivedMessage[] {
  ok(trial.received, '`create` returned no `received`: return one, or set `received: false`')
  return trial.received()
}

/** Fails unless the outcome is valid by the port. */
export function expectOutcome(given: SendOutcome): void {
  const what = `send returns a valid outcome: ${JSON.stringify(given)}`
  ok(typeof given === 'object' && given !== null, what)
  ok(['sent', 'retry', 'unknown', 'rejected'].includes(given.outcome), what)
  ok(given.provider === undefined || /^[\x21-\x7e]{1,64}$/.test(given.provider), what)
  if (given.outcome === 'sent') {
    const { providerMessageId: id } = given
    ok(id === undefined || (typeof id === 'string' && id !== '' && id.length <= 255), what)
    return
  }
  ok(
    /^[a-z][a-z0-9_]{0,63}$/.test(given.code),
    `the code of an outcome is lower_snake with at most 64 characters: ${JSON.stringify(given)}`,
  )
  const after = given.outcome === 'rejected' ? undefined : given.retryAfterMs
  ok(after === undefined || (Number.isFinite(after) && after >= 0), what)
}

/** Fails if a secret can be read anywhere in an outcome or an error. */
export function expectDiscreet({ secrets = [], channel, recipient }: ChannelTrial, reported: unknown): void {
  const address = reported instanceof Error ? [channel.address(recipient) ?? ''] : []
  const text = textOf(reported)
  for (const secret of [...secrets, ...address].filter((one) => one !== ''))
    ok(!text.includes(secret), 'an outcome or error contains no secret, no address and no text of the provider')
}

function textOf(reported: unknown, depth = 0): string {
  if (depth > 5 || typeof reported !== 'object' || reported === null) return String(reported)
  const members = Reflect.ownKeys(reported).map(
    (name) => `${String(name)} ${textOf(Reflect.get(reported, name), depth + 1)}`,
  )
  return [reported instanceof Error ? `${reported.message} ${reported.stack}` : '', ...members].join(' ')
}

/** Freezes a value deeply. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
