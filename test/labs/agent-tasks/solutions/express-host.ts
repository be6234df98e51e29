import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { createSallyport, defineEvents } from 'sallyport'
import { appSecrets } from 'sallyport/auth'
import { log } from 'sallyport/channels/log'
import { toExpress } from 'sallyport/express'
import { memoryStore } from 'sallyport/storage/memory'
import * as v from 'valibot'

const events = defineEvents({
  'order.shipped': {
    data: v.object({ orderId: v.string() }),
    channels: { log: { text: ({ data }) => `Order ${data.orderId} shipped` } },
  },
})

interface Options {
  readonly secret: string
  readonly print: (text: string) => void
}

export async function start({ secret, print }: Options): Promise<{ url: string; stop(): Promise<void> }> {
  const sallyport = createSallyport({
    auth: appSecrets([secret]),
    events,
    store: memoryStore(),
    channels: { log: log({ write: print }) },
  })
  const server = express().use(toExpress(sallyport)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  sallyport.worker.start()
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      await sallyport.stop()
      server.close()
    },
  }
}
