import type { AuthVerifier, ClaimedDelivery, SallyportStore } from 'sallyport'
import { sqlStore } from 'sallyport/storage/sql'
import { type ReadyPorts, withDefaults } from '../../../src/compose/defaults.ts'
import { commitRecords } from '../../../src/compose/plugin-commit.ts'
import { type Lives, livesOf } from '../../../src/compose/plugin-lives.ts'
import { setUpPlugins } from '../../../src/compose/plugins.ts'
import { createWorker } from '../../../src/core/delivery/worker.ts'
import { planAndAccept } from '../../../src/core/dispatch/handle-dispatch.ts'
import { measureAttempt } from '../../../src/core/measure.ts'
import { defineEvents } from '../../../src/index.ts'
import type { Measure } from '../../../src/model/measurement.ts'
import { localQueue } from '../../../src/queues/local.ts'
import { hostPrincipal } from '../../../src/services/dispatch.ts'
// Internals: the package cannot be told not to count.
import { PLUGIN_SAMPLES } from '../../plugins/list.ts'
import { putRecords } from '../../support/records.ts'
import { htmlOf, order, subjectOf } from './mail.ts'
import { rate, type Task } from './measure.ts'
import { type BenchDatabase, withSqlite } from './storage-databases.ts'
import { type Figure, figureOf, inFlight, inTurns, printProcessorTime, printSides } from './storage-measure.ts'
import { CONCURRENCY, countedSends, LOGGER } from './storage-worker.ts'

/** Takes longer than the five seconds between two writes of counts. */
const AMOUNT = 12_000
const ROUNDS = 15
/** Processor time for which a part is repeated. */
const PART_MS = 1_000

const SENT = { deliveryId: 'd', fence: 'f', to: 'sent', attempt: { outcome: 'sent' } } as const
const CLAIMED: ClaimedDelivery = {
  ...{
    deliveryId: 'd',
    channel: 'none',
    address: '',
    attempts: 1,
    history: [],
    waitedMs: 0,
    expiresInMs: 0,
    fence: 'f',
  },
  dispatch: {
    dispatchId: 'd',
    tenant: 'default',
    by: 'app',
    eventType: 'order.shipped',
    recipient: 'r',
    route: 'all',
    createdAt: 0,
  },
}

const AUTH: AuthVerifier = { verify: async () => hostPrincipal('default') }

/** The same host with statistics and heartbeats, and without: accepting, and a worker that sends and settles. */
export async function benchCounters({ kysely }: BenchDatabase): Promise<void> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql' })
  await store.migrate()
  await compare('PostgreSQL', store)
  await withSqlite(async (db) => {
    const store = sqlStore({ db, dialect: 'sqlite' })
    await store.migrate()
    await compare('SQLite, WAL', store)
  })
}

async function compare(name: string, store: SallyportStore): Promise<void> {
  const [without, counting] = [hostOn(store, false), hostOn(store, true)]
  const turns = await inTurns(ROUNDS, { without: () => turnOf(without), 'with counters': () => turnOf(counting) })
  const titles = {
    accept: `${name}: accept, 50 in flight`,
    settle: `${name}: send by a no-op channel and settle, ${CONCURRENCY} at a time`,
  } as const
  for (const part of ['accept', 'settle'] as const) {
    const figures = Object.entries(turns).map(([side, own]) => [side, own.map((turn) => turn[part])] as const)
    printSides(titles[part], Object.fromEntries(figures))
    printProcessorTime(Object.fromEntries(figures))
  }
  await printParts(store)
}

/** What counting does, each part alone: smaller than the noise of the turns. */
async function printParts(store: SallyportStore): Promise<void> {
  const ports = withDefaults({ auth: AUTH, store, logger: LOGGER })
  const { measure, lives } = countingOf(ports)
  const of = { tenant: 'default', eventType: 'order.shipped' } as const
  const accepted = (): void => measure({ of: 'accepted', ...of })
  let waitedMs = 0
  const sent = (): void => {
    waitedMs = (waitedMs + 1) % 3_000
    measureAttempt('sent', SENT, { ...CLAIMED, waitedMs }, 5, { measure })
  }
  const flushed = async (): Promise<void> => {
    accepted()
    await lives.flush()
  }
  const parts: Readonly<Record<string, Task>> = {
    'count an acceptance': accepted,
    'count a delivery': sent,
    'store the counts of a tenant, every five seconds': flushed,
    'record a heartbeat, every ten seconds': () =>
      putRecords(store, {
        kind: 'heartbeats',
        tenant: '',
        key: 'w',
        sort: [],
        expiresAt: Date.now() + 30_000,
        body: {},
      }),
  }
  console.log('  parts, in processor time each:')
  for (const [name, part] of Object.entries(parts)) {
    await rate(part, PART_MS / 4)
    console.log(`    ${name.padEnd(50)} ${(1_000_000 / (await rate(part, PART_MS))).toFixed(2).padStart(8)} us`)
  }
  await lives.flush()
}

/** The plugin, set up as a host does. */
function countingOf(ports: ReadyPorts & { readonly store: SallyportStore }): {
  readonly measure: Measure
  readonly lives: Lives
} {
  const counting = Object.entries(PLUGIN_SAMPLES).flatMap(([name, sample]) =>
    name === 'statistics' ? [sample.create()] : [],
  )
  const { store } = ports
  const plugins = setUpPlugins(
    counting,
    { ...ports, auth: AUTH, channels: ['none'], report: () => {}, commit: (unit) => commitRecords(unit, store) },
    ports,
  )
  const [measure = () => {}] = plugins.measures
  return { measure, lives: livesOf(plugins.parts, ports) }
}

interface Turn {
  readonly accept: Figure
  /** From the start of the worker to its end. */
  readonly settle: Figure
}

async function turnOf({ dispatch, drain }: CountingHost): Promise<Turn> {
  const accept = await inFlight(AMOUNT, 50, dispatch)
  return { accept, settle: await figureOf(AMOUNT, () => drain(AMOUNT)) }
}

interface CountingHost {
  dispatch(): Promise<unknown>
  /** Sends and settles this many. */
  drain(count: number): Promise<void>
}

function hostOn(store: SallyportStore, isCounting: boolean): CountingHost {
  const sends = countedSends()
  const events = defineEvents({
    'order.shipped': { channels: { none: { subject: () => subjectOf(order), html: () => htmlOf(order) } } },
  })
  const ports = withDefaults({ auth: AUTH, events, store, channels: { none: sends.channel }, logger: LOGGER })
  const { measure, lives } = countingOf(ports)
  const deps = { ...ports, queue: localQueue(ports.clock), expiresInMs: 86_400_000, ...(isCounting && { measure }) }
  const bare = createWorker(deps, { concurrency: CONCURRENCY })
  const worker = isCounting ? lives.around(bare) : bare
  const body = { eventType: 'order.shipped', recipient: 'ada@example.com' }
  return {
    dispatch: () => planAndAccept(hostPrincipal('default'), { headers: {}, body }, deps),
    async drain(count) {
      const all = sends.sent(count)
      worker.start()
      await all
      await worker.stop()
    },
  }
}
