import { setImmediate } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryQueue } from '../../src/ports/delivery-queue.ts'
import { type PostgresQueue, postgresQueue } from '../../src/queues/postgres.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { openPostgresql, type PostgresDatabase } from '../storage/databases.ts'
import { advanceUntil } from '../support/advance-until.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { everyPlugin } from '../support/every-plugin.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { postgresPort } from '../support/shared-postgres.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { countWakes } from './listener.ts'
import { type SilentProxy, silentProxy } from './proxy.ts'

const MINUTES = 5
const STEP_MS = 500
/** The promise for a connected queue. */
const MOST = 40
/** A claim a second. */
const POLLING = 60

const channels = { email: {} }
const events = defineEvents({ e: { channels }, 'run.failed': { channels } })

describe('an idle worker over PostgreSQL', () => {
  let database: PostgresDatabase
  let proxy: SilentProxy
  let clock: FakeClock
  let queue: PostgresQueue
  let statements: string[]
  /** Settles when the queue has all answers of its database. */
  let answered: Promise<unknown>

  beforeEach(async () => {
    database = await openPostgresql()
    proxy = await silentProxy(await postgresPort())
    clock = fakeClock()
    statements = []
    answered = Promise.resolve()
    queue = postgresQueue({ client, clock, logger: recordingLogger() })
    // The store asks the database for its time, and removes expired keys, at most once a minute of these.
    vi.spyOn(Date, 'now').mockImplementation(clock.now)
    vi.spyOn(performance, 'now').mockImplementation(clock.now)
  })

  afterEach(async () => {
    vi.restoreAllMocks()
    await queue.close()
    await database.close()
    await proxy.close()
  })

  /** A client of the queue, whose statements count. */
  function client(): pg.Client {
    const url = new URL(database.url)
    url.port = `${proxy.port}`
    const own = new pg.Client(url.href)
    const { query } = own
    own.query = ((...args: unknown[]) => {
      statements.push(String(args[0]))
      const answer = Reflect.apply(query, own, args)
      answered = Promise.allSettled([answered, answer])
      return answer
    }) as typeof query
    return own
  }

  /** A worker with every task that it has while idle. It has sent something. */
  async function worker(own?: DeliveryQueue): Promise<Sallyport<unknown>> {
    const log = ({ query }: { readonly query: { readonly sql: string } }): void => void statements.push(query.sql)
    const email = recordingChannel()
    const sallyport = createSallyport({
      ...{ auth: testAuth, clock, logger: recordingLogger(), events, channels: { email } },
      store: sqlStore({ db: database.connect({ log }), dialect: 'postgresql', timeoutMs: UNHURRIED_MS }),
      staleAfterMs: 3_600_000,
      plugins: everyPlugin({ alerts: { runEvents: { 'run.failed': () => undefined } } }),
      ...(own && { queue: own }),
    })
    sallyport.worker.start()
    await sallyport.dispatchOrThrow({ eventType: 'e', recipient: 'jane@example.com' })
    // A worker that was woken during a claim claims again at its next timer. No time passes while a database has to answer: the queue would
    // take its connection for lost.
    while (email.sent.length === 0) {
      clock.advance(1)
      await Promise.all([database.idle(), answered])
      await setImmediate()
    }
    return sallyport
  }

  async function statementsAMinute(): Promise<number> {
    await database.idle()
    statements.length = 0
    for (let ms = 0; ms < MINUTES * 60_000; ms += STEP_MS) {
      clock.advance(STEP_MS)
      await Promise.all([database.idle(), answered])
    }
    return statements.length / MINUTES
  }

  it(`An idle worker runs at most ${MOST} statements a minute while its queue is connected`, async () => {
    const listener = countWakes(queue)
    await listener.reported(1)
    const { stop } = await worker(queue)
    const amount = await statementsAMinute()
    expect(amount).toBeGreaterThan(10)
    expect(amount).toBeLessThanOrEqual(MOST)
    expect(listener.reports).toEqual(['connected'])

    await proxy.close()
    await listener.reported(2)
    expect(await statementsAMinute()).toBeGreaterThan(POLLING)
    await advanceUntil(stop(), clock)
  })

  it('An idle worker without a queue between processes claims every second', async () => {
    const { stop } = await worker()
    expect(await statementsAMinute()).toBeGreaterThan(POLLING)
    await advanceUntil(stop(), clock)
  })
})
