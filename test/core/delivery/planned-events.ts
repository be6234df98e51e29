import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import type { DeliveryPolicy, Verdict } from '../../../src/ports/delivery-policy.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { fc } from '../../support/properties.ts'
import { braces } from '../dispatch/dispatching.ts'

export const NOW: number = Date.UTC(2026, 10, 21, 8)

/** The behaviour of one channel of an event during planning. */
export interface Behaviour {
  readonly when: 'absent' | 'holds' | 'fails to hold' | 'throws' | 'is no boolean'
  readonly address: 'is there' | 'is none' | 'throws' | 'is a number'
  readonly receiver: 'is given' | 'is not given' | 'throws'
  readonly template: 'renders' | 'throws' | 'is no JSON' | 'reads missing data'
  readonly policy: 'sends' | 'limits' | 'opts out' | 'throttles' | 'defers'
}

/** An event with its channels and policy. */
export interface Planned {
  readonly route: 'all' | 'first'
  readonly gate: Behaviour['when']
  readonly digest: boolean
  readonly delayMs: number
  readonly behaviours: readonly Behaviour[]
}

const WHENS = ['absent', 'holds', 'absent', 'fails to hold', 'throws', 'is no boolean'] as const

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  when: fc.constantFrom(...WHENS),
  address: fc.constantFrom('is there', 'is there', 'is there', 'is none', 'throws', 'is a number'),
  receiver: fc.constantFrom('is given', 'is not given', 'is not given', 'throws'),
  template: fc.oneof(
    { weight: 8, arbitrary: fc.constant('renders' as const) },
    { weight: 2, arbitrary: fc.constantFrom('throws' as const, 'is no JSON' as const) },
    { weight: 1, arbitrary: fc.constant('reads missing data' as const) },
  ),
  policy: fc.constantFrom('sends', 'sends', 'limits', 'opts out', 'throttles', 'defers'),
})

export const planned: fc.Arbitrary<Planned> = fc
  .record({
    route: fc.constantFrom('all' as const, 'first' as const),
    gate: fc.oneof(
      { weight: 6, arbitrary: fc.constant('absent' as const) },
      { weight: 1, arbitrary: fc.constantFrom(...WHENS) },
    ),
    digest: fc.boolean(),
    delayMs: fc.constantFrom(0, 1, 60_000),
    behaviours: fc.array(behaviour, { minLength: 1, maxLength: 5 }),
  })
  .map((one) => ({ ...one, digest: one.digest && one.route === 'all' && one.delayMs === 0 }))

export function nameOf(at: number): string {
  return `channel_${at}`
}

function fail(): never {
  throw new Error('broken')
}

const CONDITIONS = {
  holds: () => true,
  'fails to hold': () => false,
  throws: fail,
  'is no boolean': () => 1 as unknown as boolean,
}

function conditionOf(when: Behaviour['when']): { readonly when?: () => boolean } {
  return when === 'absent' ? {} : { when: CONDITIONS[when] }
}

export function catalogOf({ route, gate, digest, delayMs, behaviours }: Planned): EventCatalog {
  const templates = {
    renders: () => 'hello',
    throws: fail,
    'is no JSON': () => 1n as unknown as string,
    'reads missing data': '{{ data.missing }}',
  }
  const channels = behaviours.map(({ when, template }, at) => [
    nameOf(at),
    { ...conditionOf(when), text: templates[template] },
  ])
  const event = { route, delayMs, ...conditionOf(gate), ...(digest && { digest: { windowMs: 5_000 } }) }
  return defineEvents({ e: { ...event, channels: Object.fromEntries(channels) } }, { templates: braces })
}

export function channelsOf({ behaviours }: Planned): Readonly<Record<string, Channel>> {
  const addresses = {
    'is there': () => 'somewhere',
    'is none': () => undefined,
    throws: fail,
    'is a number': () => 5 as unknown as string,
  }
  const receivers = { 'is given': () => 'one', 'is not given': () => undefined as unknown as string, throws: fail }
  const all = behaviours.map(({ address, receiver }, at): [string, Channel] => [
    nameOf(at),
    {
      address: addresses[address],
      send: fail,
      ...(receiver !== 'is not given' && { concurrencyKey: receivers[receiver] }),
    },
  ])
  return Object.fromEntries(all)
}

const VERDICTS: Readonly<Record<Behaviour['policy'], Verdict>> = {
  sends: { verdict: 'send' },
  limits: { verdict: 'send', limits: [{ key: 'k', max: 1_000, windowMs: 1_000 }] },
  'opts out': { verdict: 'skip', reason: 'opted_out' },
  throttles: { verdict: 'skip', reason: 'throttled' },
  defers: { verdict: 'defer', until: NOW + 30_000 },
}

export function verdictsOf({ behaviours }: Planned): readonly Verdict[] {
  return behaviours.map(({ policy }) => VERDICTS[policy])
}

export function policyOf(event: Planned): DeliveryPolicy {
  const verdicts = verdictsOf(event)
  return { decide: ({ channel }) => verdicts[Number(channel.replace('channel_', ''))] ?? { verdict: 'send' } }
}

/** Whether a channel passes every check before its template. */
export function isRendered({ gate }: Planned, { when, address, receiver, policy }: Behaviour): boolean {
  const holds = [gate, when].every((one) => one === 'absent' || one === 'holds')
  return holds && address === 'is there' && receiver !== 'throws' && policy !== 'opts out' && policy !== 'throttles'
}
