import { generateAppSecret } from '../../../src/auth/index.ts'
import { type Chance, chance } from './chance.ts'
import type { HostSettings } from './host-settings.ts'
import type { Host, HostYard } from './hosts.ts'
import { balance, countOpen, type Ledger, readDeliveries } from './ledger.ts'
import { type Load, type LoadOptions, startLoad } from './load.ts'
import type { Place } from './place.ts'
import { openSink, type Sink } from './sink.ts'
import { until } from './until.ts'

/** What a scenario is played on. */
export interface Stage {
  readonly yard: HostYard
  readonly place: Place
  readonly seed: number
}

/** A time that was promised. */
export interface Measured {
  readonly what: string
  readonly ms: number
  readonly promisedMs: number
}

/** What came of a scenario. */
export interface Verdict extends Ledger {
  readonly scenario: string
  readonly database: string
  readonly seed: number
  /** What was done to it. */
  readonly faults: string
  /** How many duplicates the promise allows: more of them, too, can come of a slow machine. */
  readonly allowed: number
  /**
   * Sentences of what must not be where every process gets its turn. Where one stands still for longer than a lease, that lease
   * ends, as it is to: whether it is a failure is for the caller to say.
   */
  readonly untimely: readonly string[]
  /** A slow machine may break these as well. */
  readonly times: readonly Measured[]
}

/** One run of a scenario: hosts, callers and a sink over one empty database. */
export interface Trial {
  readonly chance: Chance
  readonly sink: Sink
  /** Those that have not been ended. */
  readonly hosts: readonly Host[]
  start(own?: Partial<HostSettings>): Promise<Host>
  /** Ends one, and no longer posts to it. */
  end(host: Host, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  load(options?: Partial<LoadOptions>): Load
  /** Resolves when nothing is left to be delivered, of all that was accepted. */
  delivered(): Promise<void>
  ledger(load: Pick<Load, 'accepted'>): Promise<Ledger>
  close(): Promise<void>
}

/** So many messages each host sends at the same time. */
export const CONCURRENCY = 10

export const WORKER: HostSettings['worker'] = { leaseMs: 2_000, concurrency: CONCURRENCY, pollMs: 1_000 }

/** @param takesMs How long the sink takes for each message, at least and at most. */
export async function openTrial(
  { yard, place, seed }: Stage,
  common: Partial<HostSettings> = {},
  takesMs?: readonly [number, number],
): Promise<Trial> {
  const dice = chance(seed)
  const sink = await openSink(chance(seed + 1_000), takesMs)
  const { secret } = await generateAppSecret({ env: 'chaos' })
  const hosts: Host[] = []
  const all: Host[] = []
  const loads: Load[] = []
  let started = 0
  return {
    ...{ chance: dice, sink, hosts },
    async start(own) {
      const name = `host-${++started}`
      const host = await yard.start({ name, place, secret, sinkPort: sink.port, worker: WORKER, ...common, ...own })
      hosts.push(host)
      all.push(host)
      return host
    },
    async end(host, signal) {
      hosts.splice(hosts.indexOf(host), 1)
      await host.end(signal)
    },
    load(options) {
      const ports = (): readonly number[] => hosts.map(({ port }) => port)
      const load = startLoad({ secret, chance: chance(seed + 2_000), ports, ...options })
      loads.push(load)
      return load
    },
    async delivered() {
      // What is lost is told by the ledger, with what became of it.
      await until('all is delivered', async () => (await countOpen(place)) === 0).catch(() => {})
    },
    async ledger({ accepted }) {
      const leased = all.flatMap((host) => host.leased)
      const ledger = balance({ accepted, arrivals: sink.arrivals, leased, deliveries: await readDeliveries(place) })
      const falls = all.flatMap(({ fall }) => (fall === undefined ? [] : [fall]))
      return { ...ledger, broken: [...falls, ...ledger.broken] }
    },
    async close() {
      for (const load of loads) load.abandon()
      await Promise.all(hosts.splice(0).map((host) => host.end('SIGKILL')))
      await sink.close()
    },
  }
}

/** When the last message arrived. */
export function lastArrival({ arrivals }: Sink): number {
  return Math.max(0, ...arrivals.map(({ at }) => at))
}

/** When the last event was accepted. */
export function lastAccepted({ accepted }: Load): number {
  return Math.max(0, ...accepted.map(({ at }) => at))
}

/** What a machine that is too slow for it can break of a promise, and did. */
export function missed({ duplicates, allowed, untimely, times }: Verdict): readonly string[] {
  const late = times.filter(({ ms, promisedMs }) => !(ms <= promisedMs))
  return [
    ...(duplicates > allowed ? [`${duplicates} duplicates, of ${allowed} allowed`] : []),
    ...untimely,
    ...late.map(({ what, ms, promisedMs }) => `${what}: ${ms} ms, of ${promisedMs} promised`),
  ]
}
