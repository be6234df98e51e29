import { generateAppSecret } from '../../src/auth.ts'
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
  /** How many duplicates the promise allows. */
  readonly allowed: number
  /** A slow machine may break these: whether that is a failure is for the caller to say. */
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
  /** Resolves when all that was accepted is at the sink, and written down as sent. */
  delivered(load: Load, capMs?: number): Promise<void>
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
    async delivered({ accepted }, capMs) {
      const isThere = (): boolean => {
        const arrived = new Set(sink.arrivals.map(({ deliveryId }) => deliveryId))
        return accepted.every(({ deliveryId }) => arrived.has(deliveryId))
      }
      // What is lost is told by the ledger, with what became of it.
      await until('all is delivered', async () => isThere() && (await countOpen(place)) === 0, capMs).catch(() => {})
    },
    async ledger({ accepted }) {
      const ledger = balance(accepted, sink.arrivals, await readDeliveries(place))
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

/** The times of a verdict that were longer than promised, and by more than that. */
export function late({ times }: Verdict, slackMs = 0): readonly string[] {
  const over = times.filter(({ ms, promisedMs }) => !(ms <= promisedMs + slackMs))
  return over.map(({ what, ms, promisedMs }) => `${what}: ${ms} ms, of ${promisedMs} promised`)
}
