import type { PeerName } from './peer.ts'
import type { PeerCounts, PeerVerdict } from './peer-verdict.ts'
import { HOSTS, type PeerPlan } from './peers.ts'
import { type Circumstances, measured, seconds, spread, writeBetween } from './report.ts'
import { CONCURRENCY } from './trial.ts'

const MARKS = ['<!-- peers: written by npm run chaos with peers -->', '<!-- end of peers -->'] as const

/** The default of each queue that decides its figures, as found in its source. */
const DEFAULTS: Readonly<Record<PeerName, string>> = {
  'graphile-worker':
    'A job of a dead worker stays locked for 4 hours, which is not a setting (`dist/sql/resetLockedAt.js`); 25 attempts.',
  'pg-boss':
    'A job of a dead worker stays active for `expireInSeconds`, 15 min, and until the next maintenance, every 2 min (`src/plans.js`, `src/attorney.js`); `retryLimit` 2. A worker takes one job every 2 s, so each host has ten.',
  BullMQ:
    'A lock lasts for `lockDuration`, 30 s. Every `stalledInterval`, 30 s, a check returns the jobs that the check before found active and that have no lock; one that stalls twice fails, by `maxStalledCount` 1 (`classes/worker.js`, `scripts/moveStalledJobsToWait-9.js`).',
  Sallyport:
    'A lease lasts for `leaseMs`, 30 s, and workers poll every `pollMs`, 1 s; 9 attempts (`src/core/delivery/`).',
}

/** Writes the comparison. */
export function writePeers(
  verdicts: readonly PeerVerdict[],
  plan: PeerPlan,
  circumstances: Circumstances,
): Promise<void> {
  const names = [...new Set(verdicts.map(({ peer }) => peer))]
  const lines = [
    ...measured(circumstances),
    `Each queue and seed: ${HOSTS} hosts, ${CONCURRENCY} sends at a time in each, ${plan.dispatches} events, ${plan.kills} SIGKILLs, then a window of ${minutes(plan.windowMs)}.`,
    '',
    '| queue | accepted | sends cut | lost | failed | late | sent twice | to send again | longest recovery, s |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...names.map((name) =>
      row(
        name,
        verdicts.filter(({ peer }) => peer === name),
        plan,
      ),
    ),
    '',
    'The defaults that decide:',
    '',
    ...names.map((name) => `- ${name}: ${DEFAULTS[name]}`),
    ...verdicts.filter(({ unsent }) => unsent > 0).map(faultOf),
    ...circumstances.absent.map((reason) => `\nSkipped: ${reason}.`),
  ]
  return writeBetween(MARKS, lines.join('\n'))
}

function row(name: PeerName, verdicts: readonly PeerVerdict[], { windowMs }: PeerPlan): string {
  const sum = (count: keyof PeerCounts): number => verdicts.reduce((total, one) => total + one[count], 0)
  const counts = (['accepted', 'cut', 'lost', 'failed', 'late', 'twice', 'again'] as const).map(sum)
  const taken = spread(
    verdicts.map(({ recoveryMs }) => recoveryMs),
    seconds,
  )
  const late = sum('late')
  const recovery = late === 0 ? taken : `> ${minutes(windowMs)} (${late} not delivered in the window)`
  return `| ${[name, ...counts, recovery].join(' | ')} |`
}

function faultOf({ peer, seed, unsent }: PeerVerdict): string {
  return `\nA fault of the test: ${unsent} sends of ${peer}, seed ${seed}, failed without a kill.`
}

function minutes(ms: number): string {
  return `${ms / 60_000} min`
}
