import type { RecordStore } from '../../ports/record-store.ts'

/** A worker's sign of life. */
export interface NewHeartbeat {
  readonly workerId: string
  /** Milliseconds until the worker counts as dead, by the store's clock. 0: it has stopped. */
  readonly aliveForMs: number
}

/** Signs of life of workers. Their expiry is the time from which the worker counts as dead. */
export interface HeartbeatRecords {
  /** Replaces the worker's last heartbeat. The first one of a worker also removes some of dead workers. */
  record(heartbeat: NewHeartbeat): Promise<void>
  /** The number of workers that are alive, up to 10,000. */
  countWorkers(): Promise<number>
}

const KIND = 'heartbeats'

/** Dead workers that a new worker removes. */
const WORKERS_REMOVED = 20

/** Further workers are not counted. */
const MAX_WORKERS = 10_000

export function heartbeatRecords(store: RecordStore): HeartbeatRecords {
  return {
    async record({ workerId, aliveForMs }) {
      const now = await store.now()
      const name = { kind: KIND, tenant: '', key: workerId }
      const isNew = await store.changeRecords([name], (draft) => {
        const stored = draft.get(name)
        if (aliveForMs > 0) draft.put({ ...name, sort: [], expiresAt: Math.ceil(now + aliveForMs), body: {} })
        else draft.remove(name)
        return !stored
      })
      // Not at every heartbeat: in a database with an old snapshot, each leaves a dead index entry that a removal would read.
      if (isNew) await store.removeRecords({ kind: KIND, expiredForMs: 0, limit: WORKERS_REMOVED })
    },
    countWorkers: () => store.countUnexpired(KIND, MAX_WORKERS),
  }
}
