import * as v from 'valibot'
import { toFetch } from '../../src/adapters/fetch.ts'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { jsonLogic } from '../../src/engines/json-logic.ts'
import { liquid } from '../../src/engines/liquid.ts'
import type { Plugin } from '../../src/plugins/plugin.ts'
import type { EventCatalog } from '../../src/ports/event-catalog.ts'
import type { IdGenerator } from '../../src/ports/id-generator.ts'
import type { SallyportStore } from '../../src/ports/sallyport-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { everyPlugin } from '../support/every-plugin.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

/** The events in the examples of the document. */
export const events: EventCatalog = defineEvents(
  {
    'order.shipped': {
      data: v.object({ orderId: v.string(), total: v.number() }),
      channels: {
        email: { subject: 'Order {{ data.orderId }} shipped', text: 'It is on its way.' },
        sms: { when: { '>=': [{ var: 'data.total' }, 100] }, text: 'Order {{ data.orderId }} is on its way' },
      },
    },
    'shop.closed': { channels: { email: { subject: 'Closed on {{ data.day }}' } } },
  },
  { templates: liquid(), conditions: jsonLogic() },
)

/** Reproducible ids: a fixed instant and a count. */
export function countingIds(): IdGenerator {
  const counts = new Map<string, number>()
  return {
    next(prefix) {
      const count = (counts.get(prefix) ?? 0) + 1
      counts.set(prefix, count)
      return `${prefix}_01m7yhx300${String(count).padStart(16, '0')}`
    },
  }
}

export interface ExampleHost {
  readonly sallyport: Sallyport
  readonly store: SallyportStore
  readonly clock: FakeClock
  fetch(request: Request): Promise<Response>
}

/** Options of {@link exampleHost}. */
export type ExampleOptions = Partial<Omit<SallyportOptions<unknown>, 'plugins'>> & {
  /** Options of plugins, by the names of the plugins. Default: those of their samples; no `consent`. */
  readonly pluginOptions?: Readonly<Record<string, object>>
  /** Further plugins. */
  readonly plugins?: readonly Plugin[] | undefined
}

/** A real host on a fake clock, with plugins. It accepts the tokens of `testAuth`. */
export function exampleHost({ pluginOptions, plugins = [], ...options }: ExampleOptions = {}): ExampleHost {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const sallyport = createSallyport({
    auth: testAuth,
    events,
    store,
    channels: {
      email: recordingChannel(),
      sms: recordingChannel(undefined, { address: ({ phone }) => phone }),
      push: recordingChannel(),
    },
    recipients: {
      async find(id) {
        if (id === 'user_broken') throw new Error('the directory is down')
        return id === 'user_42' ? { id, email: 'ada@example.com', phone: '+4915112345678' } : undefined
      },
    },
    clock,
    ids: countingIds(),
    logger: recordingLogger(),
    plugins: [...everyPlugin({ consent: false, ...pluginOptions }), ...plugins],
    ...options,
  })
  return { sallyport, store, clock, fetch: toFetch(sallyport) }
}
