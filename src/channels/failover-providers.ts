import type { ConfigProblem } from '../errors.ts'
import { has } from '../options/checks.ts'
import { faultOf, isRecord, type OptionFault, optionError, problemsAt } from '../options/read-options.ts'
import { kindOf } from '../options/shown-value.ts'
import type { Channel } from '../ports/channel.ts'

/** Channels that send the same kind of message, the preferred one first. */
export type Providers = readonly [first: Channel, second: Channel, ...more: Channel[]]

/** The same with a name for each, in the order of the object. Names are 1-64 visible ASCII characters, and no numbers. */
export type NamedProviders = Readonly<Record<string, Channel>>

export interface NamedChannel {
  readonly name: string
  readonly channel: Channel
}

/** An attempt records at most as many. */
const MAX_PROVIDERS = 16

const isChannel = has(
  'a channel such as email(…), or an object { address(recipient), send(message) }',
  'address',
  'send',
)

const failovers = new WeakSet<Channel>()

/** Remembers a channel as a failover, which no other failover accepts. */
export function markFailover<C extends Channel>(channel: C): C {
  failovers.add(channel)
  return channel
}

/**
 * Reads the arguments of `failover`: channels, which are named by position, or one object of named channels.
 *
 * @throws {SallyportError} `option_invalid`, with all problems.
 */
export function readProviders(given: readonly unknown[]): readonly NamedChannel[] {
  const [only] = given
  if (given.length === 1 && Array.isArray(only)) {
    optionError('failover', [{ detail: `got ${kindOf(only)}; pass the channels without it: ${CALL}` }])
  }
  const isNamed = given.length === 1 && isRecord(only) && !isLikeChannel(only)
  const entries: readonly Entry[] = isNamed
    ? Object.entries(only).map(([name, channel], index) => ({ name, channel, place: placeOf(name, index) }))
    : given.map((channel, index) => ({ name: `${index + 1}`, channel, place: `argument ${index + 1}` }))
  const problems = entries.flatMap((entry, index) => {
    const fault = (isNamed ? nameFault(entry.name) : undefined) ?? channelFault(entry, entries.slice(0, index))
    return problemsAt(entry.place, fault)
  })
  optionError('failover', [...countProblems(entries.length), ...problems])
  return entries.map(({ name, channel }) => ({ name, channel: channel as Channel }))
}

interface Entry {
  readonly name: string
  readonly channel: unknown
  /** Its position, for the error. */
  readonly place: string
}

/** A single channel is an argument of the list, not an object of names. */
function isLikeChannel({ address, send }: Readonly<Record<string, unknown>>): boolean {
  return typeof address === 'function' || typeof send === 'function'
}

const NAME = /^[\x21-\x7e]{1,64}$/

function placeOf(name: string, index: number): string {
  return NAME.test(name) ? name : `provider ${index + 1}`
}

function nameFault(name: string): string | undefined {
  if (!NAME.test(name)) return 'has a name that is not 1-64 visible ASCII characters'
  if (/^\d+$/.test(name)) {
    return 'is a number: JavaScript sorts such keys, so the order would be another; use a name, such as "ses"'
  }
  return undefined
}

function channelFault({ channel }: Entry, earlier: readonly Entry[]): OptionFault {
  const fault = faultOf(channel, isChannel)
  if (fault !== undefined) return fault
  if (failovers.has(channel as Channel)) return 'is a failover itself: name its channels here instead, in one order'
  const same = earlier.find((other) => other.channel === channel)
  return same && `is the same channel as ${same.place}: each provider needs a channel of its own`
}

const CALL = 'failover({ ses: …, postmark: … })'

function countProblems(count: number): readonly ConfigProblem[] {
  if (count < 2) return [{ detail: `needs at least 2 channels: ${CALL}` }]
  return count > MAX_PROVIDERS ? [{ detail: `takes at most ${MAX_PROVIDERS} channels` }] : []
}
