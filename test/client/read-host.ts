import { toFetch } from '../../src/adapters/fetch.ts'
import { createReadClient, type ReadClient } from '../../src/client/read.ts'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { Plugin } from '../../src/plugins/plugin.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger } from '../support/deps.ts'
import { everyPlugin } from '../support/every-plugin.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const events = defineEvents({ hello: { channels: { email: { subject: () => 'Hello', text: () => 'Hello' } } } })

/** A host with the runs `r1` and `r2` of the session `s/1`, and a client of its read API. */
export interface ReadHost<Plugins extends readonly Plugin[] = readonly Plugin[]> {
  readonly sallyport: Sallyport<unknown, Plugins>
  readonly read: ReadClient
  /** Requests of the client. */
  readonly sent: Request[]
  /** Dispatches an event. Returns the id of the dispatch. */
  dispatched(): Promise<string>
}

export function readHost(): Promise<ReadHost>
export function readHost<const Plugins extends readonly Plugin[]>(plugins: Plugins): Promise<ReadHost<Plugins>>
export async function readHost(plugins: readonly Plugin[] = everyPlugin()): Promise<ReadHost> {
  const clock = fakeClock()
  const sallyport = createSallyport<unknown>({
    ...{ events, clock, store: memoryStore({ clock }), logger: recordingLogger() },
    auth: { verify: async () => ({ id: 'support', tenant: 'default', operations: ['read', 'manage', 'session_run'] }) },
    channels: { email: recordingChannel() },
    plugins,
  })
  const handle = toFetch(sallyport, { basePath: '/v1' })
  const sent: Request[] = []
  const read = createReadClient({
    baseUrl: 'http://shop.test/v1',
    token: 'secret',
    retries: 0,
    fetch: async (url, init) => {
      const request = new Request(url, init)
      sent.push(request.clone())
      return handle(request)
    },
  })
  for (const runId of ['r1', 'r2']) {
    await handle(
      new Request('http://shop.test/v1/api/agents/session/run', {
        method: 'POST',
        headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId: 's/1', run: { runId } }),
      }),
    )
  }
  return {
    ...{ sallyport, read, sent },
    async dispatched() {
      const result = await sallyport.dispatch({ eventType: 'hello', recipient: 'jane@example.com' })
      if (!result.ok) throw new Error(result.body.code)
      return result.body.dispatchId
    },
  }
}
