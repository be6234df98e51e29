import { type ConnectionOptions, Queue, Worker } from 'bullmq'
import { acceptWith, type JobState, type Peer, type PeerPlace } from './peer.ts'

/** Lists of Redis keys by state, in the order in which a job moves. */
const LISTS: readonly (readonly [Parameters<Queue['getRanges']>[0][number], JobState])[] = [
  ['wait', 'waiting'],
  ['delayed', 'waiting'],
  ['active', 'active'],
  ['failed', 'failed'],
  ['completed', 'done'],
]

/** Its jobs are in Redis, in a queue named after the trial's database. */
export const bullmqPeer: Peer = {
  async prepare() {},
  async serve(settings, send) {
    const connection = connectionOf(settings)
    const { database } = settings.place
    const queue = new Queue<Payload>(database, { connection })
    const worker = new Worker<Payload>(database, ({ id, data }) => send({ id: String(id), order: data.order }), {
      connection,
      concurrency: settings.concurrency,
    })
    queue.on('error', () => {})
    worker.on('error', () => {})
    return acceptWith(async (order) => String((await queue.add('send', { order })).id))
  },
  async states(at) {
    const queue = new Queue(at.place.database, { connection: connectionOf(at) })
    const states = new Map<string, JobState>()
    for (const [list, state] of LISTS) for (const id of await queue.getRanges([list], 0, -1)) states.set(id, state)
    await queue.close()
    return states
  },
}

interface Payload {
  readonly order: string
}

function connectionOf({ redisPort }: PeerPlace): ConnectionOptions {
  if (redisPort === undefined) throw new Error('BullMQ needs a Redis')
  return { host: '127.0.0.1', port: redisPort }
}
