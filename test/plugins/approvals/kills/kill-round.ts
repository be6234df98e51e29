import type { ApprovalView } from '../../../../src/model/approval.ts'
import type { ApprovalResult } from '../../../../src/model/approval-calls.ts'
import type { Chance } from '../../../labs/chaos/chance.ts'
import { passing } from '../../../labs/chaos/until.ts'
import { type Call, decisionFaults, faultsOfUses, type Told, type UseCall } from '../races/faults.ts'
import { type CalledHost, toldBy } from './callers.ts'
import { ADA, type Aim, ASKS, BOB, EXPIRES_IN_MS } from './host-settings.ts'

/** What the killed process is doing. */
export const WORKS = [
  'request',
  'accept',
  'decline',
  'cancel',
  'expire',
  'expire by task',
  'consume',
  'report',
] as const
export type Work = (typeof WORKS)[number]

/** The running hosts, of which one is killed in a round. */
export interface Pair {
  readonly victim: CalledHost
  readonly other: CalledHost
  /** Lets the time of approvals pass in both hosts. */
  passTime(): Promise<void>
}

/** A kill, and what it left. */
export interface KillRound {
  readonly sessionId: string
  readonly work: Work
  /** Moment of the kill. */
  readonly moment: string
  /** Calls that the kill left without an answer. */
  readonly lost: number
  readonly ended: ApprovalView
  readonly faults: readonly string[]
}

/** Longest time between the start of the calls and a kill from outside. */
const AIM_MS = 12
const ACTION = { name: 'refund', args: { orderId: 'A-1', amount: 900 } }

/** Kills a host at its work on one approval, while others work on the same one; then each caller without an answer repeats its call elsewhere. */
export async function killRound(sessionId: string, work: Work, pair: Pair, chance: Chance): Promise<KillRound> {
  const { victim, other } = pair
  const of = { sessionId, approvalId: 'refund' }
  const asked = { ...of, runId: 'r1', eventType: ASKS, message: 'Refund 900 USD?', action: ACTION }
  const calls: Call[] = []
  const uses: UseCall[] = []
  const faults: string[] = []
  let lost = 0

  /** Repeats a call at the other host until it is answered. */
  async function heard<Result>(
    on: CalledHost,
    call: (host: CalledHost) => Promise<Result>,
    note: (heard: Told<Result>) => void,
  ): Promise<NonNullable<Told<Result>>> {
    for (let host = on; ; host = other) {
      const answer = await toldBy(call(host))
      note(answer)
      if (answer) return answer
      lost += 1
    }
  }

  async function say(on: CalledHost, call: Call['call'], user?: string): Promise<void> {
    const make = ({ approvals }: CalledHost): Promise<ApprovalResult> =>
      user === undefined || call === 'cancel' ? approvals.cancel(of) : approvals.answer({ ...of, user, answer: call })
    await heard(on, make, (told) => void calls.push({ call, ...(user !== undefined && { user }), told }))
  }

  async function use(on: CalledHost, useId: string): Promise<void> {
    const make = ({ approvals }: CalledHost) => approvals.consume({ ...of, action: ACTION, useId })
    await heard(on, make, (told) => void uses.push({ useId, told }))
  }

  async function request(on: CalledHost): Promise<void> {
    const given: Told<ApprovalResult>[] = []
    await heard(
      on,
      ({ approvals }) => approvals.request({ ...asked, expiresInMs: EXPIRES_IN_MS }),
      (told) => void given.push(told),
    )
    const news = given.filter((told) => told && 'result' in told && !told.result.replayed).length
    const last = given.at(-1)
    if (!last || 'refusal' in last || news > 1) faults.push(`the request was told ${JSON.stringify(given)}`)
  }

  async function wait(on: CalledHost): Promise<ApprovalView | undefined> {
    const last = await heard(
      on,
      ({ approvals }) => approvals.wait(of),
      () => {},
    )
    if ('result' in last) return last.result
    faults.push(`a waiter was told ${JSON.stringify(last)}`)
    return undefined
  }

  async function look(): Promise<ApprovalView> {
    const last = await heard(
      other,
      ({ approvals }) => approvals.wait({ ...of, waitMs: 0 }),
      () => {},
    )
    if ('result' in last) return last.result
    throw new Error(`it cannot be read: ${last.refusal.message}`)
  }

  /** The calls that meet: those of the host that is killed, and in half of the rounds one of the other. */
  function worksOf(): (() => Promise<unknown>)[] {
    const beside = (run: () => Promise<unknown>): (() => Promise<unknown>)[] => (chance.next() < 0.5 ? [run] : [])
    switch (work) {
      case 'request':
        return [() => request(victim), ...beside(() => request(other))]
      case 'accept':
        return [() => say(victim, 'accept', ADA), ...beside(() => say(other, 'decline', BOB))]
      case 'decline':
        return [() => say(victim, 'decline', ADA), ...beside(() => say(other, 'accept', BOB))]
      case 'cancel':
        return [() => say(victim, 'cancel'), ...beside(() => say(other, 'accept', BOB))]
      case 'expire':
        return [
          () => pair.passTime().then(() => toldBy(victim.approvals.wait({ ...of, waitMs: 0 }))),
          ...beside(() => say(other, 'accept', BOB)),
        ]
      case 'expire by task':
        return [
          () => pair.passTime().then(() => victim.order({ runDue: true })),
          ...beside(() => say(other, 'accept', BOB)),
        ]
      case 'consume':
        return [() => use(victim, 'u1'), ...beside(() => use(other, 'u2'))]
      case 'report':
        return [() => say(victim, 'accept', ADA).then(() => victim.order({ runDue: true }))]
    }
  }

  if (work !== 'request') await request(other)
  const waits = work === 'request' ? [] : [wait(victim), wait(other)]
  if (work === 'consume') await say(other, 'accept', ADA)
  const aim = aimOf(work, chance)
  if (aim) await victim.order({ aim })
  const works = worksOf().map((run) => run())
  if (aim) await Promise.all(works)
  else await passing(chance.between(0, AIM_MS))
  // It may have killed itself.
  await victim.host.end('SIGKILL')
  await Promise.all(works)

  if (work === 'request') await say(other, 'accept', ADA)
  const ended = await look()
  faults.push(...decisionFaults(ended, calls))
  if (ended.status === 'accepted') {
    for (const useId of ['u1', 'u1', 'u2']) await use(other, useId)
    faults.push(...faultsOfUses(await look(), uses))
  }
  for (const seen of await Promise.all(waits))
    if (seen && (seen.status !== ended.status || seen.endedAt !== ended.endedAt))
      faults.push(`a waiter was told ${seen.status} at ${seen.endedAt}, and it is ${ended.status} at ${ended.endedAt}`)
  const moment = aim ? `${aim.moment} a ${aim.call}` : 'at random'
  return { sessionId, work, moment, lost, ended, faults: faults.map((fault) => `${work}, ${moment}: ${fault}`) }
}

/** Where the host kills itself; `undefined`: it is killed from outside. */
function aimOf(work: Work, chance: Chance): Aim | undefined {
  if (chance.next() < 0.3) return undefined
  return {
    call: work === 'report' ? 'report' : chance.of(['read', 'change', 'change', 'change'] as const),
    moment: chance.of(['before', 'during', 'during', 'after'] as const),
    turns: chance.between(0, 3),
  }
}
