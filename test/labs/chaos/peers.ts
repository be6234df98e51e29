import { generateAppSecret } from '../../../src/auth/index.ts'
import { chance } from './chance.ts'
import { killHost, killMoments } from './crashes.ts'
import type { Host, HostLauncher } from './hosts.ts'
import { type Load, startLoad } from './load.ts'
import { loadPeer, type PeerName, type PeerPlace, type PeerSettings, SEND_FAILED } from './peer.ts'
import { isFinished, judge, type PeerVerdict } from './peer-verdict.ts'
import { openSink } from './sink.ts'
import { CONCURRENCY } from './trial.ts'
import { until } from './until.ts'

/** Size of a comparison. */
export interface PeerPlan {
  readonly dispatches: number
  readonly kills: number
  /** Longest wait for unfinished jobs, after the last acceptance and kill. */
  readonly windowMs: number
  /** Maximum pause of each caller between its events. */
  readonly pauseMs: number
  /** Minimum and maximum time until the sink accepts a message, and the same again until it answers. */
  readonly takesMs: readonly [number, number]
  /** Lease of Sallyport. Default: its own default. */
  readonly leaseMs?: number
}

/** Events come a little slower than pg-boss polls by default, so that no queue has a backlog. */
export const LONG_PEERS: PeerPlan = {
  ...{ dispatches: 1_000, kills: 20, windowMs: 300_000 },
  ...{ pauseMs: 1_250, takesMs: [100, 900] },
}

/** Sallyport's lease is short, so that a test can wait for its recovery. */
export const SHORT_PEERS: Omit<PeerPlan, 'windowMs'> = {
  ...{ dispatches: 40, kills: 2, leaseMs: 2_000 },
  ...{ pauseMs: 200, takesMs: [20, 100] },
}

/** The environment of a trial. */
export interface PeerStage extends PeerPlace {
  readonly launcher: HostLauncher<PeerSettings>
  readonly peer: PeerName
  readonly seed: number
}

/** A trial whose kills are over. */
export interface KilledPeer {
  /** Waits until every job is finished or the window ends, and ends the hosts. */
  verdict(): Promise<PeerVerdict>
}

export const HOSTS = 3
const LOOK_MS = 500

/** Kills hosts while they accept and deliver. Resolves after the last acceptance. */
export async function killPeer(stage: PeerStage, plan: PeerPlan): Promise<KilledPeer> {
  const { launcher, seed, peer, place, redisPort } = stage
  const { prepare, states } = await loadPeer(peer)
  const dice = chance(seed)
  const sink = await openSink(chance(seed + 1_000), plan.takesMs, plan.takesMs)
  const { secret } = await generateAppSecret({ env: 'chaos' })
  const hosts: Host[] = []
  const all: Host[] = []
  const killedAt = new Map<string, number>()
  let started = 0
  let load: Load | undefined

  async function start(): Promise<Host> {
    const where = { place, ...(redisPort !== undefined && { redisPort }), sinkPort: sink.port }
    const own = { concurrency: CONCURRENCY, ...(plan.leaseMs !== undefined && { leaseMs: plan.leaseMs }) }
    const host = await launcher.start({ name: `host-${++started}`, peer, secret, ...where, ...own })
    hosts.push(host)
    all.push(host)
    return host
  }

  async function end(host: Host): Promise<void> {
    hosts.splice(hosts.indexOf(host), 1)
    killedAt.set(host.name, Date.now())
    await host.end('SIGKILL')
  }

  async function close(): Promise<void> {
    load?.abandon()
    await Promise.all(hosts.splice(0).map((host) => host.end('SIGKILL')))
    await sink.close()
  }

  async function verdict(accepted: Load['accepted']): Promise<PeerVerdict> {
    const records = async () => ({ accepted, ...sink, killedAt, states: await states(stage) })
    const areFinished = async (): Promise<boolean> => isFinished(await records())
    // The verdict counts unfinished jobs.
    await until('all jobs are finished', areFinished, plan.windowMs, LOOK_MS).catch(() => {})
    const unsent = all.reduce((sum, { logged }) => sum + (logged.get(SEND_FAILED) ?? 0), 0)
    return { peer, seed, unsent, ...judge(await records()) }
  }

  try {
    await prepare(stage)
    await Promise.all(Array.from({ length: HOSTS }, start))
    const ports = (): readonly number[] => hosts.map(({ port }) => port)
    // Not every queue knows keys. Without one, no post is repeated.
    const paced = { total: plan.dispatches, pauseMs: plan.pauseMs, hasKeys: false }
    const begun = startLoad({ secret, chance: chance(seed + 2_000), ports, ...paced })
    load = begun
    for (const { crash, after } of killMoments(plan.kills, plan.dispatches, dice)) {
      await killHost({ chance: dice, hosts, start, end }, crash, await begun.reached(after))
    }
    await begun.done
    return { verdict: () => verdict(begun.accepted).finally(close) }
  } catch (error) {
    await close()
    throw error
  }
}
