import type { Content } from '../model/dispatch.ts'
import type { Recipient } from '../model/recipient.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import { ok } from './assertions.ts'

/** A message as the provider received it. */
export interface ReceivedMessage {
  /** Omit it if the provider accepts none. */
  readonly idempotencyKey?: string
  /** The whole content as text. */
  readonly text: string
}

/** Each function sets the provider's behaviour from then on. */
export interface ProviderBehaviours {
  /** Accepts every message. The initial behaviour. */
  succeed?(): void | Promise<void>
  /** Rejects permanently. */
  reject?(): void | Promise<void>
  /** Certainly accepts no message, temporarily. */
  retry?(): void | Promise<void>
  /** Breaks the connection when it may have accepted the message. */
  unknown?(): void | Promise<void>
  /** Accepts the message and never answers. `taken` resolves once it has a message. */
  hang?(): { readonly taken: Promise<unknown> }
}

/** A channel for one case, with its own provider. */
export interface ChannelTrial {
  readonly channel: Channel
  /** A recipient with an address on this channel. */
  readonly recipient: Recipient
  /** A recipient without an address. */
  readonly unreachable?: Recipient
  /** Content that contains this word. */
  content(word: string): Content
  readonly outcomes?: ProviderBehaviours
  /** Messages that the provider accepted, oldest first. */
  received?(): readonly ReceivedMessage[]
  /** Texts that no outcome or error may contain: keys, passwords, and answers of the provider. */
  readonly secrets?: readonly string[]
  /** Releases the channel after the case, also after a failure. */
  close?(): void | Promise<void>
}

export type Failure = 'reject' | 'retry' | 'unknown'

export function messageOf({ channel, recipient, content }: ChannelTrial, at: number): OutboundMessage {
  const to = channel.address(recipient)
  ok(to, 'the recipient has an address')
  const ids = { dispatchId: `dsp_${at}`, tenant: 'acme', recipient: recipient.id }
  return frozen({ to, content: content(wordOf(at)), eventType: 'order.shipped', ...ids, createdAt: 1_795_248_000_000 })
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

/** A word per number. No word is part of another. */
export function wordOf(at: number): string {
  return `word${1_000 + at}end`
}

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

/** Fails if an outcome or an error contains a secret. */
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

export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
