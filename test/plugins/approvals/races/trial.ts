import { setImmediate } from 'node:timers/promises'
import type { ApprovalView } from '../../../../src/model/approval.ts'
import type { ApprovalsOptions } from '../../../../src/plugins/approvals/check-options.ts'
import type { ApprovalName } from '../../../../src/plugins/approvals/service.ts'
import type { SallyportStore } from '../../../../src/ports/sallyport-store.ts'
import type { Chance } from '../../../labs/chaos/chance.ts'
import { countingIds } from '../../../support/deps.ts'
import type { FakeClock } from '../../../support/fake-clock.ts'
import { ADA, type ApprovalHost, approving, BOB, REFUND } from '../approving.ts'
import { type Call, decisionFaults, faultsOfUses, told, type UseCall } from './faults.ts'
import { type Meeting, meeting, shuffled } from './meeting.ts'

const SESSION = 's1'
const EXPIRES_IN_MS = 60_000
const CARL = 'carl@example.com'
const APPROVERS = [ADA, BOB, CARL]
const AGENT = 'agent@example.com'

/** Two processes over the same data, and trials whose calls meet on both. */
export interface Races {
  readonly meeting: Meeting
  /** Answers, withdrawals and the time-out of one approval meet. @returns Its end, and contradictions. */
  decide(at: number): Promise<{ readonly ended: ApprovalView; readonly faults: readonly string[] }>
  /** Uses of one accepted action meet. @returns Contradictions. */
  take(at: number): Promise<readonly string[]>
  /** Does what is due until nothing is; the texts of the messages that tell of an end, by approval. */
  reports(): Promise<ReadonlyMap<string, readonly string[]>>
}

export function races(stores: readonly [SallyportStore, SallyportStore], clock: FakeClock, chance: Chance): Races {
  const met = meeting(chance)
  const ids = countingIds()
  const event = { approvers: () => APPROVERS }
  const reports = new Map<string, string[]>()
  const answered: ApprovalsOptions['answered'] = ({ approvalId, status }) => ({
    ...{
      eventType: 'refund.answered',
      recipient: AGENT,
      eventData: { approval: { status: `${status} ${approvalId}` } },
    },
  })
  // The hosts differ in the quorum of what they ask for.
  const hosts = stores.map((store, index) =>
    approving({
      store: met.through(store),
      clock,
      ids,
      event: { ...event, required: index + 1 },
      options: { answered },
    }),
  ) as [ApprovalHost, ApprovalHost]

  const anyOf = (): ApprovalHost => chance.of(hosts)

  /** Asks on the host of this quorum. */
  async function ask(approvalId: string, required: 1 | 2): Promise<ApprovalName> {
    const of = { sessionId: SESSION, approvalId }
    const request = { ...of, runId: 'r1', eventType: 'refund.approval', message: 'Refund 900 USD?', action: REFUND }
    await hosts[required - 1]?.sallyport.approvals.request({ ...request, expiresInMs: EXPIRES_IN_MS })
    return of
  }

  /** Starts the calls in random order, at random distances unless they are held. */
  async function meet<Result>(calls: readonly (() => Promise<Result>)[], isHeld: boolean): Promise<readonly Result[]> {
    met.hold(isHeld ? calls.length : 0)
    const started: Promise<Result>[] = []
    for (const call of shuffled(calls, chance)) {
      for (let turns = isHeld ? 0 : chance.between(0, 4); turns > 0; turns--) await setImmediate()
      started.push(call())
    }
    return Promise.all(started)
  }

  /** Lets the time of the approval pass when there were this many changes, which a read finds out, or the task of a worker. */
  async function timeOut(of: ApprovalName, changes: number, isByTask: boolean): Promise<undefined> {
    await met.reached(changes)
    clock.advance(EXPIRES_IN_MS)
    const { sallyport } = anyOf()
    if (isByTask) await sallyport.worker.runDue()
    else await sallyport.approvals.get(of)
  }

  return {
    meeting: met,

    async decide(at) {
      // All decide before one is stored; one is stored before the others begin; or they meet as it happens.
      const mode = (['held', 'led', 'free'] as const)[at % 3] ?? 'free'
      const of = await ask(`decide-${at}`, mode === 'led' || chance.next() < 0.5 ? 1 : 2)
      const answer = (call: 'accept' | 'decline', user: string) => async (): Promise<Call> => ({
        ...{ call, user, told: await told(anyOf().sallyport.approvals.answer({ ...of, user, answer: call })) },
      })
      const made = [
        answer('accept', ADA),
        answer('decline', BOB),
        async (): Promise<Call> => ({ call: 'cancel', told: await told(anyOf().sallyport.approvals.cancel(of)) }),
      ]
      const others = [answer('accept', ADA), answer('accept', CARL)]
      const isByTask = chance.next() < 0.5
      const after = { held: made.length + others.length, led: 0, free: chance.between(0, 1) }[mode]
      const all = [...made, () => timeOut(of, after, isByTask)]
      const leader = mode === 'led' ? all[Math.floor(at / 3) % all.length] : undefined
      const first = await leader?.()
      const rest = await meet([...all.filter((call) => call !== leader), ...others], mode === 'held')
      const ended = await anyOf().sallyport.approvals.get(of)
      if (!ended) throw new Error(`${of.approvalId} is gone`)
      const calls = [first, ...rest].filter((call) => call !== undefined)
      const { items } = await anyOf().sallyport.dispatches.list({
        ...{ eventType: 'refund.approval', sessionId: SESSION, status: 'queued', limit: 1 },
      })
      const waiting = items.map(({ recipient }) => `a message to ${recipient} still waits`)
      return { ended, faults: [...decisionFaults(ended, calls), ...waiting] }
    },

    async take(at) {
      const of = await ask(`take-${at}`, 1)
      await anyOf().sallyport.approvals.answer({ ...of, user: ADA, answer: 'accept' })
      const uses = ['u1', 'u1', 'u2', 'u3', 'u4', 'u4'].map(
        (useId) => async (): Promise<UseCall> => ({
          ...{ useId, told: await told(anyOf().sallyport.approvals.consume({ ...of, action: REFUND, useId })) },
        }),
      )
      const made = await meet(uses, at % 2 === 0)
      const ended = await anyOf().sallyport.approvals.get(of)
      if (!ended) throw new Error(`${of.approvalId} is gone`)
      return faultsOfUses(ended, made)
    },

    async reports() {
      for (let done = 1; done > 0; ) {
        // Both look for what is due at the same time.
        const before = hosts.flatMap(({ a }) => a.sent).length
        await Promise.all(hosts.map(({ sallyport }) => sallyport.worker.runDue()))
        await Promise.all(hosts.map(({ sallyport }) => sallyport.worker.runDue()))
        done = hosts.flatMap(({ a }) => a.sent).length - before
      }
      for (const { a } of hosts)
        for (const { eventType, content } of a.sent) {
          if (eventType !== 'refund.answered') continue
          const [, status = '', approvalId = ''] = String(content.text).split(' ')
          reports.set(approvalId, [...(reports.get(approvalId) ?? []), status])
        }
      return reports
    },
  }
}
