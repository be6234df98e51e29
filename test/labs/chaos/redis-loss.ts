import { Redis } from 'ioredis'
import { type RedisServer, redisServer } from '../../queues/redis-server.ts'
import { DELAY_MS } from './host-settings.ts'
import { openTrial, type Stage, type Verdict, WORKER } from './trial.ts'
import { passing } from './until.ts'

/**
 * Redis loses its data, goes away and comes back, while one host accepts and another delivers.
 *
 * @param phaseMs Length of each phase.
 */
export async function redisLoss(stage: Stage, phaseMs: number): Promise<Verdict> {
  const redis = await redisServer()
  const trial = await openTrial(stage, { redisPort: redis.port })
  try {
    await redis.start()
    const front = await trial.start({ isWorking: false })
    await trial.start()
    const paced = { ports: () => [front.port], callers: 4, pauseMs: 100 }
    const soon = trial.load({ ...paced, name: 'soon' })
    const later = trial.load({ ...paced, name: 'later', eventType: 'order.reminder' })
    const phase = async (): Promise<void> => {
      const before = [soon, later].map(({ accepted }) => accepted.length)
      await passing(phaseMs)
      await Promise.all([soon, later].map((load, index) => load.reached((before[index] ?? 0) + 1)))
    }
    await phase()
    await flush(redis)
    await phase()
    await redis.kill()
    await phase()
    await redis.start()
    await phase()
    for (const load of [soon, later]) load.stop()
    await Promise.all([soon.done, later.done])
    await trial.delivered()
    const arrived = new Map([...trial.sink.arrivals].reverse().map(({ deliveryId, at }) => [deliveryId, at]))
    const lateBy = [
      ...soon.accepted.map(({ deliveryId, at }) => (arrived.get(deliveryId) ?? Number.NaN) - at),
      ...later.accepted.map(({ deliveryId, at }) => (arrived.get(deliveryId) ?? Number.NaN) - at - DELAY_MS),
    ]
    const ledger = await trial.ledger({ accepted: [...soon.accepted, ...later.accepted] })
    return {
      ...ledger,
      ...{ scenario: 'redis-loss', database: stage.place.dialect, seed: stage.seed, allowed: 0 },
      faults: `FLUSHALL; SIGKILL, ${phaseMs / 1_000} s without Redis`,
      untimely: [],
      times: [{ what: 'latest', ms: Math.max(...lateBy), promisedMs: WORKER.pollMs + 1_000 }],
    }
  } finally {
    await trial.close()
    await redis.remove()
  }
}

async function flush({ port }: RedisServer): Promise<void> {
  const client = new Redis(port, '127.0.0.1')
  await client.flushall()
  client.disconnect()
}
