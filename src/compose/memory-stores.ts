import type { Worker } from '../core/delivery/worker.ts'
import { IN_MEMORY } from '../model/in-memory.ts'
import type { Logger } from '../ports/logger.ts'
import { nodeEnv } from '../runtime/node-env.ts'

const IN_PRODUCTION = [
  'NODE_ENV is production, and the store keeps everything in memory: the end of the process loses it,',
  'with accepted deliveries that are not sent. Use sqlStore() of sallyport/storage/sql, or another store that lasts.',
].join(' ')

const SECOND = [
  'A worker of this process already runs on another store in memory. Each such store has its own data:',
  'no worker sends what was accepted in the other one. Give both Sallyports the same store, or keep one of them.',
].join(' ')

/** Stores in memory whose worker runs. */
const running = /* @__PURE__ */ new Set<object>()

/**
 * Warns of a store in memory where `NODE_ENV` is `production`, and when its worker starts while one runs on another such store. Never
 * warns where it is `test`, because tests create many.
 *
 * @returns The worker, watched.
 */
export function watchMemory(worker: Worker, store: object, logger: Logger): Worker {
  const environment = nodeEnv()
  if (!(IN_MEMORY in store) || environment === 'test') return worker
  if (environment === 'production') logger.log('warn', 'store.in_memory', { detail: IN_PRODUCTION })
  return {
    ...worker,
    start() {
      worker.start()
      if (running.size > 0 && !running.has(store)) logger.log('warn', 'store.in_memory', { detail: SECOND })
      running.add(store)
    },
    async stop(options) {
      await worker.stop(options)
      running.delete(store)
    },
  }
}
