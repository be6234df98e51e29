import { generateAppSecret } from '../../../../src/auth/index.ts'
import type { Chance } from '../../../labs/chaos/chance.ts'
import type { HostLauncher } from '../../../labs/chaos/hosts.ts'
import type { Place } from '../../../labs/chaos/place.ts'
import { until } from '../../../labs/chaos/until.ts'
import { type CalledHost, calledHost } from './callers.ts'
import { ASKS, EXPIRES_IN_MS, type KilledHostSettings, TELLS } from './host-settings.ts'
import type { KillRound, Pair } from './kill-round.ts'

/** Two hosts over one database; each that is killed is replaced. */
export interface Fleet {
  /** The hosts of the next round, of which either is the victim. */
  pair(chance: Chance): Pair
  /** Starts a host in the place of the victim. */
  replace(): Promise<void>
  /** Waits until each end is reported and no message waits. @returns What is broken of reports and messages. */
  settle(rounds: readonly KillRound[]): Promise<readonly string[]>
  close(): Promise<void>
}

/** Messages of one approval: a question and a reminder for each approver. */
const PROMPTS = 4
const REMINDERS = 2
/** Generous: a worker looks for ends every ten seconds. */
const CAP_MS = 60_000

export async function openFleet(launcher: HostLauncher<KilledHostSettings>, place: Place): Promise<Fleet> {
  const { secret, sha256 } = await generateAppSecret({ env: 'kills' })
  let started = 0
  let clockOffMs = 0
  let victim = 0

  async function start(): Promise<CalledHost> {
    const host = calledHost(await launcher.start({ name: `host-${++started}`, place, sha256 }), secret)
    await host.order({ clockOffMs })
    return host
  }
  const hosts = [await start(), await start()] as [CalledHost, CalledHost]

  /** The session's only report, and no message that waits. */
  async function faultsOf({ sessionId, ended }: KillRound): Promise<readonly string[]> {
    const [{ read }] = hosts
    const { items } = await read.dispatches.list({ sessionId })
    const prompts = items.filter(({ eventType }) => eventType === ASKS)
    const cancelled = prompts.filter(({ status }) => status === 'cancelled')
    const sent = prompts.filter(({ status }) => status === 'sent')
    const reports = items.filter(({ eventType }) => eventType === TELLS)
    const whole = await Promise.all(reports.map(({ dispatchId }) => read.dispatches.get(dispatchId, { content: true })))
    const told = whole.flatMap(({ deliveries }) => deliveries.map(({ content }) => content?.text))
    return [
      ...(prompts.length === PROMPTS ? [] : [`${sessionId} has ${prompts.length} messages that ask`]),
      // Questions may have been sent before.
      ...(cancelled.length < REMINDERS || cancelled.length + sent.length < prompts.length
        ? [`${sessionId}: messages after the end are ${prompts.map(({ status }) => status)}`]
        : []),
      ...(told.length === 1 && told[0] === ended.status
        ? []
        : [`${sessionId} is ${ended.status}, reported as ${told}`]),
    ]
  }

  return {
    pair(chance) {
      victim = chance.between(0, 1)
      return {
        victim: hosts[victim === 0 ? 0 : 1],
        other: hosts[victim === 0 ? 1 : 0],
        async passTime() {
          clockOffMs += EXPIRES_IN_MS
          await Promise.all(hosts.map((host) => host.order({ clockOffMs })))
        },
      }
    },
    async replace() {
      hosts[victim === 0 ? 0 : 1] = await start()
    },
    async settle(rounds) {
      // What is still missing then is found below. A question whose sending was interrupted is sent again after its lease.
      const isOver = async ({ sessionId }: KillRound): Promise<boolean> => {
        const { items } = await hosts[0].read.dispatches.list({ sessionId })
        return items.some(({ eventType }) => eventType === TELLS) && items.every(({ status }) => status !== 'queued')
      }
      for (const round of rounds) await until(`${round.sessionId} is over`, () => isOver(round), CAP_MS).catch(() => {})
      // A further report would come with the next look of each worker.
      await Promise.all(hosts.map((host) => host.order({ runDue: true })))
      const faults: string[] = []
      for (const round of rounds) faults.push(...(await faultsOf(round)))
      return faults
    },
    close: async () => void (await Promise.all(hosts.map(({ host }) => host.end('SIGKILL')))),
  }
}
