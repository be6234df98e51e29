import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { createSallyport, defineEvents } from 'sallyport'
import { appSecrets } from 'sallyport/auth'
import { log } from 'sallyport/channels/log'
import { toNode } from 'sallyport/node'
import { rateLimits } from 'sallyport/rate-limits'
import { memoryStore } from 'sallyport/storage/memory'

const events = defineEvents({ ping: { channels: { log: { text: () => 'ping' } } } })

interface Options {
  readonly secrets: readonly string[]
  readonly perMinute: number
}

export async function start({ secrets, perMinute }: Options): Promise<{ url: string; stop(): Promise<void> }> {
  const sallyport = createSallyport({
    auth: appSecrets(secrets),
    events,
    store: memoryStore(),
    channels: { log: log() },
    rateLimiter: rateLimits({ token: new RateLimiterMemory({ points: perMinute, duration: 60 }) }),
  })
  const server = createServer(toNode(sallyport)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      await sallyport.stop()
      server.close()
    },
  }
}
