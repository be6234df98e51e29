import * as v from 'valibot'
import { toNode } from '../../../src/adapters/node.ts'
import { appSecrets } from '../../../src/auth/index.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { readDeliveries } from './ledger.ts'
import type { JobState, Peer, Send } from './peer.ts'
import { connectTo } from './place.ts'

const STATES: Readonly<Record<string, JobState>> = { queued: 'waiting', sending: 'active', sent: 'done' }

/** Its own defaults decide too: lease, polling and retries. */
export const sallyportPeer: Peer = {
  async prepare() {
    // The cluster opens only migrated databases.
  },
  async serve({ place, secret, concurrency, leaseMs }, send) {
    const { dialect } = place
    const sallyport = createSallyport({
      worker: { concurrency, ...(leaseMs !== undefined && { leaseMs }) },
      auth: appSecrets([secret]),
      events: defineEvents({
        'order.shipped': {
          data: v.object({ order: v.string() }),
          channels: { sink: { text: ({ data }: { readonly data: { readonly order: string } }) => data.order } },
        },
      }),
      store: sqlStore({ db: await connectTo(place), dialect }),
      channels: { sink: sinkChannel(send) },
      logger: { log() {} },
    })
    sallyport.worker.start()
    return toNode(sallyport)
  },
  async states({ place }) {
    const deliveries = await readDeliveries(place)
    return new Map(deliveries.map(({ delivery_id: id, status }) => [id, STATES[status] ?? 'failed']))
  },
}

function sinkChannel(send: Send): Channel {
  return {
    address: ({ email }) => email,
    async send({ content }, { deliveryId }) {
      await send({ id: deliveryId, order: String(content.text) })
      return { outcome: 'sent' }
    },
  }
}
