import { failoverChannel } from '../../src/channels/failover-channel.ts'
import type { Attempt, AttemptEnd, ProviderEnd } from '../../src/model/attempt.ts'
import type { Channel, SendOutcome } from '../../src/ports/channel.ts'

import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { context, message } from './messages.ts'

/** A channel with scripted results. */
export interface ScriptedProvider extends Channel {
  answer: () => unknown
}

/** Providers that send by default; `asked` lists their positions in call order. */
export function scriptedProviders(count: number): { providers: ScriptedProvider[]; asked: string[] } {
  const asked: string[] = []
  const providers = Array.from({ length: count }, (_, index): ScriptedProvider => {
    const provider: ScriptedProvider = {
      answer: () => ({ outcome: 'sent' }),
      address: () => undefined,
      async send() {
        asked.push(`${index + 1}`)
        // A channel of the host may return anything.
        return provider.answer() as SendOutcome
      },
    }
    return provider
  })
  return { providers, asked }
}

/** A delivery's attempts, oldest first, from their ends; `undefined` stands for a worker that died. */
export function attempts(...ends: (Pick<AttemptEnd, 'outcome' | 'provider'> | undefined)[]): Attempt[] {
  return ends.map((end, index) => ({ attempt: index + 1, startedAt: index, ...end }))
}

/** Three providers behind one failover channel, with one delivery. */
export interface Trio {
  readonly first: ScriptedProvider
  readonly second: ScriptedProvider
  readonly third: ScriptedProvider
  /** Providers called by the last `send`. */
  readonly asked: readonly string[]
  readonly clock: FakeClock
  readonly channel: Channel
  /** Makes one more attempt after attempts with these ends. */
  send(...ends: Parameters<typeof attempts>): Promise<SendOutcome>
}

export function trio(): Trio {
  const clock = fakeClock()
  const { providers, asked } = scriptedProviders(3)
  const [first, second, third] = providers as [ScriptedProvider, ScriptedProvider, ScriptedProvider]
  const channel = failoverChannel([first, second, third], clock)
  return {
    ...{ first, second, third, asked, clock, channel },
    send(...ends) {
      asked.length = 0
      return channel.send(message('ada@example.test', {}), context(undefined, attempts(...ends)))
    },
  }
}

/** The `providers` of an outcome: `'1 busy'` did not send, `'2'` did. */
export function ends(...each: readonly string[]): { readonly providers: readonly ProviderEnd[] } {
  const split = each.map((one) => one.split(' '))
  return { providers: split.map(([name = '', code]) => ({ name, ...(code !== undefined && { code }) })) }
}

export const retry = (): SendOutcome => ({ outcome: 'retry', code: 'busy' })

export const fails = (): never => {
  throw new Error('boom')
}
