import {
  type Channel,
  createSallyport,
  type DeliveryQueue,
  defineEvents,
  type Logger,
  type Sallyport,
  type SallyportStore,
  type Worker,
} from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import * as plugins from 'sallyport/plugins'
import { htmlOf, order, subjectOf } from './mail.ts'

/** Those that are there of the plugins that need no options. */
const PLUGINS = Object.entries<unknown>(plugins).flatMap(([name, create]) =>
  ['agentTokens', 'alerts', 'statistics'].includes(name) ? [(create as () => plugins.Plugin)()] : [],
)

/** A host whose channel only counts its sends. */
export interface Host {
  readonly sallyport: Pick<Sallyport, 'dispatches' | 'endpoints'>
  readonly worker: Worker
  /** Accepts an event with one mail of 1 KB. */
  dispatch(): Promise<unknown>
  /** Resolves when this many more are sent. Call it before they are. */
  sent(count: number): Promise<void>
  /** Sends since the start. */
  total(): number
}

/** Concurrent sends, as many as in the compared queues. */
export const CONCURRENCY = 500

/** Time limit of a database call: only ends one that hangs, so that a busy machine is slow and not an error. */
export const HANG_MS = 120_000

export const LOGGER: Logger = {
  log(level: string, event: string, fields: unknown): void {
    if (level === 'error') throw new Error(`${event} ${JSON.stringify(fields)}`)
  },
}

export async function hostOn(
  store: SallyportStore,
  queue?: DeliveryQueue,
  concurrency: number = CONCURRENCY,
): Promise<Host> {
  const { secret } = await generateAppSecret({ env: 'bench' })
  const { channel, sent, total } = countedSends()
  const events = defineEvents({
    'order.shipped': { channels: { none: { subject: () => subjectOf(order), html: () => htmlOf(order) } } },
  })
  const sallyport = createSallyport({
    ...{ auth: appSecrets([secret]), events, store, channels: { none: channel }, logger: LOGGER },
    ...(queue && { queue }),
    plugins: PLUGINS,
    worker: { concurrency },
  })
  return {
    sallyport,
    worker: sallyport.worker,
    dispatch: () => sallyport.dispatch({ eventType: 'order.shipped', recipient: 'ada@example.com' }),
    sent,
    total,
  }
}

/** A channel that only counts its sends. */
export function countedSends(): { readonly channel: Channel } & Pick<Host, 'sent' | 'total'> {
  let total = 0
  let left = 0
  let done = (): void => {}
  return {
    channel: {
      address: () => 'ada@example.com',
      async send() {
        total++
        if (--left === 0) done()
        return { outcome: 'sent' }
      },
    },
    sent: (count) =>
      new Promise((resolve) => {
        left = count
        done = resolve
      }),
    total: () => total,
  }
}
