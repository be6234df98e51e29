import pg from 'pg'
import PgBoss from 'pg-boss'
import { acceptWith, type JobState, type Peer, urlOf } from './peer.ts'

const QUEUE = 'sends'
/** Jobs older than half a day would be in the archive. */
const STATES = `select id::text, case
  when state in ('created', 'retry') then 'waiting' when state = 'active' then 'active'
  when state = 'completed' then 'done' else 'failed'
end as state from pgboss.job where name = $1`

/** With as many workers as sends at a time, since each takes one job by default. */
export const pgBossPeer: Peer = {
  async prepare(at) {
    const boss = await started({ connectionString: urlOf(at), supervise: false, schedule: false })
    await boss.createQueue(QUEUE)
    await boss.stop({ graceful: false, wait: true })
  },
  async serve(settings, send) {
    const boss = await started({ connectionString: urlOf(settings) })
    for (let worker = 0; worker < settings.concurrency; worker++) {
      await boss.work<Payload>(QUEUE, async (jobs) => {
        for (const { id, data } of jobs) await send({ id, order: data.order })
      })
    }
    return acceptWith(async (order) => {
      const id = await boss.send(QUEUE, { order } satisfies Payload)
      if (id === null) throw new Error('pg-boss created no job')
      return id
    })
  },
  async states(at) {
    const client = new pg.Client({ connectionString: urlOf(at) })
    await client.connect()
    const { rows } = await client.query<{ readonly id: string; readonly state: JobState }>(STATES, [QUEUE])
    await client.end()
    return new Map(rows.map(({ id, state }) => [id, state]))
  },
}

interface Payload {
  readonly order: string
}

async function started(options: PgBoss.ConstructorOptions): Promise<PgBoss> {
  const boss = new PgBoss(options)
  boss.on('error', () => {})
  await boss.start()
  return boss
}
