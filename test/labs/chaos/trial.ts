import { generateAppSecret } from '../../../src/auth/index.ts'
import { type Chance, chance } from './chance.ts'
import type { HostSettings } from './host-settings.ts'
import type { Host, HostLauncher } from './hosts.ts'
import { balance, countOpen, type Ledger, readDeliveries } from './ledger.ts'
import { type Load, type LoadOptions, startLoad } from './load.ts'
import type { Place } from './place.ts'
import { openSink, type Sink } from './sink.ts'
import { until } from './until.ts'

/** The environment of a scenario. */
export interface Stage {
  readonly launcher: HostLauncher
  readonly place: Place
  readonly seed: number
}

/** A measured time and its promised limit. */
export interface Measured {
  readonly what: string
  readonly ms: number
  readonly promisedMs: number
}

/** The result of a scenario. */
export interface Verdict extends Ledger {
  readonly scenario: string
  readonly database: string
  readonly seed: number
  /** The injected faults. */
  readonly faults: string
  /** Allowed number of duplicates; a slow machine may cause more. */
  readonly allowed: number
  /**
   * Broken promises that require every process to run in time. A process that stalls for longer than a lease loses that
   * lease, as it must; the caller decides whether this is a failure.
   */
  readonly untimely: readonly string[]
  /** Times that a slow machine may also exceed. */
  readonly times: readonly Measured[]
}

/** One run of a scenario: hosts, callers and a sink over one empty database. */
export interface Trial {
  readonly chance: Chance
  readonly sink: Sink
  /** Running hosts. */
  readonly hosts: readonly Host[]
  start(own?: Partial<HostSettings>): Promise<Host>
  /** Ends a host, and stops posting to it. */
  end(host: Host, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  load(options?: Partial<LoadOptions>): Load
  /** Resolves when all accepted events are delivered. */
  delivered(): Promise<void>
  ledger(load: Pick<Load, 'accepted'>): Promise<Ledger>
  close(): Promise<void>
}

/** Concurrent sends of each host. */
export const CONCURRENCY = 10

export const WORKER: HostSettings['worker'] = { leaseMs: 2_000, concurrency: CONCURRENCY, pollMs: 1_000 }

/** @param takesMs Minimum and maximum time of the sink for each message. */
export async function openTrial(
  { launcher, place, seed }: Stage,
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
      const host = await launcher.start({ name, place, secret, sinkPort: sink.port, worker: WORKER, ...common, ...own })
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
      // The ledger reports lost deliveries with their state.
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

/** Time of the last message. */
export function lastArrival({ arrivals }: Sink): number {
  return Math.max(0, ...arrivals.map(({ at }) => at))
}

/** Time of the last acceptance. */
export function lastAccepted({ accepted }: Load): number {
  return Math.max(0, ...accepted.map(({ at }) => at))
}

/** Broken promises that a slow machine may cause. */
export function missed({ duplicates, allowed, untimely, times }: Verdict): readonly string[] {
  const late = times.filter(({ ms, promisedMs }) => !(ms <= promisedMs))
  return [
    ...(duplicates > allowed ? [`${duplicates} duplicates, of ${allowed} allowed`] : []),
    ...untimely,
    ...late.map(({ what, ms, promisedMs }) => `${what}: ${ms} ms, of ${promisedMs} promised`),
  ]
}
