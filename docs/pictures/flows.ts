/** A colour of the palette, by what it says. */
export type Tone = 'good' | 'waiting' | 'quiet'

/** A box with a title and one or two short lines below it. */
export interface Step {
  readonly title: string
  readonly details: readonly string[]
}

/** A result at the end of a flow. */
export interface Outcome {
  readonly title: string
  readonly state: string
  readonly detail: string
  readonly tone: Tone
}

/** One caller, from its request to the outcomes. */
export interface Flow {
  readonly title: string
  readonly caller: Step
  readonly request: string
  readonly answer: string
  readonly decide: Step
  readonly stored: string
  readonly work: Step
  readonly outcomes: readonly Outcome[]
}

export const SERVER = 'Your server'
export const DATABASE = 'Your database'

export const NOTIFICATIONS: Flow = {
  title: 'Your app acts',
  caller: { title: 'App', details: ['order.shipped', 'for user_42'] },
  request: 'event',
  answer: '202 stored',
  decide: { title: 'Plan', details: ['conditions,', 'policy, templates'] },
  stored: 'deliveries',
  work: { title: 'Worker', details: ['leases,', 'retries'] },
  outcomes: [
    { title: 'email', state: 'sent', detail: 'the provider took it', tone: 'good' },
    { title: 'sms', state: 'skipped', detail: 'no_address', tone: 'quiet' },
    { title: 'webhook', state: 'queued', detail: 'retry in 5 s', tone: 'waiting' },
  ],
}

export const RUNS: Flow = {
  title: 'Your agent acts',
  caller: { title: 'Agent', details: ['late, twice,', 'in any order'] },
  request: 'run',
  answer: '201 stored',
  decide: { title: 'Merge', details: ['order-free,', 'idempotent'] },
  stored: 'runs',
  work: { title: 'Session', details: ['tokens, cost,', 'percentiles'] },
  outcomes: [
    { title: 'run r1', state: 'completed', detail: '310 tokens', tone: 'good' },
    { title: 'budget', state: 'allowed', detail: '4.20 of 5 USD used', tone: 'good' },
    { title: 'refund', state: 'waiting', detail: 'a person is asked', tone: 'waiting' },
  ],
}
