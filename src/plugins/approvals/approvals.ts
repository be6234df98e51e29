import { actionsOf } from '../../core/actions/call-action.ts'
import { SallyportError } from '../../errors.ts'
import { readOptions } from '../../options/read-options.ts'
import type { RecordStore } from '../../ports/record-store.ts'
import type { Plugin } from '../plugin.ts'
import { APPROVAL_ACTIONS } from './actions.ts'
import { answerAction } from './answer-action.ts'
import { APPROVALS_KIND, approvalRecords } from './approval-records.ts'
import { approvalCalls } from './calls.ts'
import { APPROVALS, type ApprovalsOptions, approvalProblems, MAX_WAITING } from './check-options.ts'
import { TOPIC } from './deps.ts'
import { approvalLinks } from './links.ts'
import { approvalRecipient } from './recipient-data.ts'
import { type Approvals, approvalsOf } from './service.ts'
import { approvalSession, approvalViews } from './session-data.ts'
import type { StoredApproval } from './stored-approval.ts'
import { approvalTasks, doTasks } from './tasks.ts'
import { approvalWaiters } from './waiters.ts'

/** Members that {@link approvals} adds to a Sallyport. */
export interface ApprovalsApi {
  readonly approvals: Approvals
}

/**
 * Lets a person decide about an action of an agent: the agent asks and waits, a message carries the question, and the answer is recorded once:
 * `sallyport.approvals`, `POST /api/agents/session/approval`.
 *
 * @example
 * ```ts
 * const sallyport = createSallyport({
 *   ...ports,
 *   links: { baseUrl: 'https://api.example.com', keys },
 *   plugins: [approvals({ events: { 'refund.approval': { approvers: () => ['finance@example.com'] } } })],
 * })
 * const action = { name: 'refund', args: { orderId: 'A-1', amount: 900 } }
 * const of = { sessionId: 's1', approvalId: 'refund-A-1' }
 * await sallyport.approvals.request({ ...of, runId: 'r1', eventType: 'refund.approval', message: 'Refund 900 USD?', action })
 * const { status } = await sallyport.approvals.wait(of)
 * ```
 *
 * @throws {SallyportError} `option_invalid`, with all problems of the options. `createSallyport` refuses an event that its catalogue lacks, that
 * is not `critical`, or has a digest, and a host without the option `links`.
 */
export function approvals(options: ApprovalsOptions): Plugin<'approvals', ApprovalsApi> {
  const given = readOptions('approvals', options, APPROVALS)
  return {
    name: 'approvals',
    needs: ['dispatch'],
    setup(core) {
      const { clock, events, links, plan, dispatch, store, report } = core
      if (!events || !plan || !dispatch) throw new TypeError('approvals needs a host that dispatches')
      const problems = approvalProblems(given, events, links !== undefined)
      if (problems.length > 0) throw new SallyportError('config_invalid', 'approvals', problems)
      const records = approvalRecords(core)
      const waiters = approvalWaiters({
        clock,
        max: given.maxWaiting ?? MAX_WAITING,
        findEnded: (names) => findEnded(names, store),
        onWake: (listener) => core.onWake(TOPIC, listener),
        failed: (cause) => report(cause, { operation: 'store' }, { level: 'error', event: 'approval.failed' }),
      })
      const deps = { ...core, plan, dispatch, records, options: given, waiters }
      const tasks = approvalTasks(() => doTasks(deps), clock)
      const service = approvalsOf(deps)
      let stopListening: (() => void) | undefined
      return {
        api: { approvals: service },
        actions: actionsOf(APPROVAL_ACTIONS, approvalCalls(deps, service)),
        ...(links && { open: [answerAction({ ...deps, links, page: given.page })] }),
        ownEvents: Object.keys(given.events),
        ...(links && { links: approvalLinks(given, records, links) }),
        recipient: approvalRecipient(deps),
        session: approvalSession(deps),
        view: approvalViews(deps),
        async prune(olderThanMs, tenant) {
          await records.approvals.prune(olderThanMs, tenant)
          await records.prompts.prune(olderThanMs, tenant)
        },
        life: {
          start() {
            waiters.start()
            tasks.start()
            // An end of any process is reported by the first one that hears of it.
            if (given.answered) stopListening ??= core.onWake(TOPIC, () => void tasks.runDue())
          },
          runDue: () => tasks.runDue(),
          async stop() {
            stopListening?.()
            stopListening = undefined
            waiters.stop()
            await tasks.stop()
          },
        },
      }
    },
  }
}

/** Most names of one read. */
const MAX_NAMES = 1_000

/** The approvals that have ended, or are gone, by their keys. One that has ended has an instant from which its removal counts. */
async function findEnded(
  names: readonly { readonly tenant: string; readonly key: string }[],
  store: RecordStore,
): Promise<ReadonlyMap<string, StoredApproval | undefined>> {
  const ended = new Map<string, StoredApproval | undefined>(names.map(({ key }) => [key, undefined]))
  for (let at = 0; at < names.length; at += MAX_NAMES) {
    const texts = names.slice(at, at + MAX_NAMES).map(({ tenant, key: text }) => ({ tenant, text }))
    for (const record of await store.findRecords({ kind: APPROVALS_KIND, by: 'key', texts })) {
      if (record.expiresAt === undefined) ended.delete(record.key)
      else ended.set(record.key, record.body as object as StoredApproval)
    }
  }
  return ended
}
