import { isRefused } from '../../core/answers/result.ts'
import type { TimelineMoment } from '../../core/runs/sessions/timeline.ts'
import type { RunApproval } from '../../model/approval.ts'
import { writeInstant } from '../../model/instants.ts'
import type { PluginRecord } from '../../ports/record-store.ts'
import type { RunKey } from '../../ports/run-store.ts'
import type { PluginSession, PluginView } from '../plugin.ts'
import { beginningWith, runHash, shortHash } from './approval-records.ts'
import type { ApprovalDeps } from './deps.ts'
import { changeApproval } from './store-approval.ts'
import { type StoredApproval, statusOf, viewApproval } from './stored-approval.ts'

const PAGE = 100

/** Approvals in the timeline of their session. A run is awaited while it has an open one. An erasure keeps no content of them. */
export function approvalSession(deps: ApprovalDeps): PluginSession {
  const { records } = deps

  async function erase({ tenant, sessionId }: Pick<RunKey, 'tenant' | 'sessionId'>): Promise<void> {
    const within = beginningWith(await shortHash(sessionId))
    let cursor: string | undefined
    do {
      const page = await records.approvals.list(tenant, { by: 'session', ...within, limit: PAGE, cursor })
      for (const { key, body } of page.items) {
        if (body.sessionId !== sessionId) continue
        const find = async () => (await records.approvals.find(tenant, [key]))[0]
        const changed = await changeApproval(find, withoutContent, deps)
        // One that was pruned is refused as not found.
        if (isRefused(changed) && 'cause' in changed) throw changed.cause
      }
      cursor = page.nextCursor
    } while (cursor !== undefined)
  }

  return {
    async timeline({ tenant, sessionId, first, limit, cursor }) {
      const within = beginningWith(await shortHash(sessionId))
      const reverse = first === 'newest'
      const page = await records.approvals.list(tenant, { by: 'session', ...within, reverse, limit, cursor })
      return { ...page, items: page.items.map(momentOf) }
    },
    async isAwaited(run) {
      const { items } = await records.approvals.list(run.tenant, { by: 'open', is: await runHash(run), limit: 1 })
      return items.length > 0
    },
    erase,
  }
}

function momentOf({ key: id, body }: PluginRecord<StoredApproval>): TimelineMoment {
  const { createdAt: at } = body
  return { id, at, view: () => ({ type: 'approval', at: writeInstant(at), approval: viewApproval(body, false) }) }
}

/** Digest, times and outcome stay. An open question that nobody could read any more is cancelled. */
function withoutContent(stored: StoredApproval, now: number): StoredApproval {
  const { message: _message, action: _action, schema: _schema, answers, end, ...rest } = stored
  const isErased = stored.message === undefined && end !== undefined
  if (isErased) return stored
  return {
    ...rest,
    answers: answers.map(({ comment: _, content: __, ...answer }) => answer),
    end: end ?? { status: 'cancelled', at: now },
  }
}

/** Most approvals in a view of a run. */
const MOST_SHOWN = 20

/** Approvals in views of runs: the newest of a run that is read alone, and the open ones of the runs of a page. */
export function approvalViews({ records }: Pick<ApprovalDeps, 'records'>): PluginView {
  async function newestOf({ tenant, sessionId, runId }: RunKey): Promise<readonly StoredApproval[]> {
    const within = beginningWith(await runHash({ sessionId, runId }))
    const page = await records.approvals.list(tenant, { by: 'run', ...within, reverse: true, limit: MOST_SHOWN })
    return page.items.map(({ body }) => body)
  }

  async function openOf(runs: readonly RunKey[]): Promise<readonly (readonly StoredApproval[])[]> {
    const hashes = await Promise.all(runs.map(runHash))
    const found = await records.approvals.find(runs[0]?.tenant ?? '', hashes, 'open')
    const newest = found.map(({ body }) => body).sort((one, other) => other.createdAt - one.createdAt)
    return hashes.map((hash) => newest.filter(({ run }) => run === hash).slice(0, MOST_SHOWN))
  }

  return {
    async runs(runs, shown) {
      const found = await (shown === 'one' ? Promise.all(runs.map(newestOf)) : openOf(runs))
      return found.map((approvals) => (approvals.length > 0 ? { approvals: approvals.map(viewOfRun) } : {}))
    },
  }
}

function viewOfRun(stored: StoredApproval): RunApproval {
  const { approvalId, eventType, expiresAt } = stored
  return { approvalId, status: statusOf(stored), eventType, expiresAt: writeInstant(expiresAt) }
}
