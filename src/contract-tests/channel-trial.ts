import type { Content } from '../model/dispatch.ts'
import type { Recipient } from '../model/recipient.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import { ok } from './assertions.ts'

/** What a provider got, as far as it can be told. */
export interface ReceivedMessage {
  /** By what the provider recognises a repeat. Left out where it takes nothing of the kind. */
  readonly idempotencyKey?: string
  /** All that it says, as text. */
  readonly text: string
}

/** Each has the provider do something with what it is sent from then on, until another one does. */
export interface ProviderBehaviours {
  /** It takes everything, as it does at first. */
  succeed?(): void | Promise<void>
  /** It refuses for good. */
  reject?(): void | Promise<void>
  /** It takes nothing, in a way that leaves no doubt. */
  retry?(): void | Promise<void>
  /** It breaks off at a point where it may have taken the message. */
  unknown?(): void | Promise<void>
  /** It takes the message and never answers. `taken` resolves once it has one. */
  hang?(): { readonly taken: Promise<unknown> }
}

/** A channel that one case is tried on, and a provider that nobody else uses. */
export interface ChannelTrial {
  readonly channel: Channel
  /** One that the channel reaches. */
  readonly recipient: Recipient
  /** One that it does not. */
  readonly unreachable?: Recipient
  /** Something to say that has this word in it. */
  content(word: string): Content
  readonly outcomes?: ProviderBehaviours
  /** What the provider has taken, oldest first. */
  received?(): readonly ReceivedMessage[]
  /** What must not be in any outcome or error: keys, passwords, and what the provider says in its answers. */
  readonly secrets?: readonly string[]
  /** Lets go of it when the case is over, however it ended. */
  close?(): void | Promise<void>
}

/** What a provider can do instead of taking a message and saying so. */
export type Failure = 'reject' | 'retry' | 'unknown'

/** Of one delivery of its own for each number. */
export function messageOf({ channel, recipient, content }: ChannelTrial, at: number): OutboundMessage {
  const to = channel.address(recipient)
  ok(to, 'the recipient that can be reached has an address')
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

/** No word is a part of another. */
export function wordOf(at: number): string {
  return `word${1_000 + at}end`
}

/** What came of a send: an outcome, or what was thrown. */
export async function settle(sending: Promise<SendOutcome>): Promise<{ outcome: SendOutcome } | { thrown: unknown }> {
  return sending.then(
    (outcome) => ({ outcome }),
    (thrown: unknown) => ({ thrown }),
  )
}

export async function behave({ outcomes }: ChannelTrial, as: 'succeed' | Failure): Promise<void> {
  const change = outcomes?.[as]
  ok(change, `the trial has the outcome ${as}, or declares that it has not`)
  await change.call(outcomes)
}

export function receivedBy(trial: ChannelTrial): readonly ReceivedMessage[] {
  ok(trial.received, 'the trial tells what was received, or declares that it does not')
  return trial.received()
}

/** Holds an outcome against what the port says of one. */
export function expectOutcome(given: SendOutcome): void {
  const what = `what came of it is an outcome: ${JSON.stringify(given)}`
  ok(typeof given === 'object' && given !== null, what)
  ok(['sent', 'retry', 'unknown', 'rejected'].includes(given.outcome), what)
  ok(given.provider === undefined || /^[\x21-\x7e]{1,64}$/.test(given.provider), what)
  if (given.outcome === 'sent') {
    const { providerMessageId: id } = given
    ok(id === undefined || (typeof id === 'string' && id !== '' && id.length <= 255), what)
    return
  }
  ok(/^[a-z][a-z0-9_]{0,63}$/.test(given.code), `the code is a short lower_snake word: ${JSON.stringify(given)}`)
  const after = given.outcome === 'rejected' ? undefined : given.retryAfterMs
  ok(after === undefined || (Number.isFinite(after) && after >= 0), what)
}

/** Looks for what must not be told in all that could be read of something that was given or thrown. */
export function expectDiscreet({ secrets = [], channel, recipient }: ChannelTrial, reported: unknown): void {
  const address = reported instanceof Error ? [channel.address(recipient) ?? ''] : []
  const text = textOf(reported)
  for (const secret of [...secrets, ...address].filter((one) => one !== ''))
    ok(!text.includes(secret), 'an outcome or an error tells of a secret, an address or what a provider said')
}

function textOf(reported: unknown, depth = 0): string {
  if (depth > 5 || typeof reported !== 'object' || reported === null) return String(reported)
  const members = Reflect.ownKeys(reported).map(
    (name) => `${String(name)} ${textOf(Reflect.get(reported, name), depth + 1)}`,
  )
  return [reported instanceof Error ? `${reported.message} ${reported.stack}` : '', ...members].join(' ')
}

/** The value, of which nothing can be changed from now on. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
