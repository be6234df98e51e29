import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { acceptWith, type JobState, type Peer, urlOf } from './peer.ts'

const TASK = 'send'
const STATES = `select id::text, case
  when locked_at is not null then 'active' when attempts >= max_attempts then 'failed' else 'waiting'
end as state from graphile_worker.jobs`
const logger = new Logger(() => () => {})

/** Finished jobs are deleted. */
export const graphilePeer: Peer = {
  async prepare(at) {
    const utils = await makeWorkerUtils({ connectionString: urlOf(at), logger })
    await utils.migrate()
    await utils.release()
  },
  async serve(settings, send) {
    const runner = await run({
      ...{ connectionString: urlOf(settings), logger, concurrency: settings.concurrency },
      taskList: { [TASK]: (payload, { job }) => send({ id: job.id, order: (payload as Payload).order }) },
    })
    return acceptWith(async (order) => (await runner.addJob(TASK, { order } satisfies Payload)).id)
  },
  async states(at) {
    const client = new pg.Client({ connectionString: urlOf(at) })
    await client.connect()
    const { rows } = await client.query<{ readonly id: string; readonly state: JobState }>(STATES)
    await client.end()
    return new Map(rows.map(({ id, state }) => [id, state]))
  },
}

interface Payload {
  readonly order: string
}
