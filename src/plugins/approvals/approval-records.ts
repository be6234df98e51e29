import { sha256 } from '../../model/sha256.ts'
import { type KindRecords, recordsOf } from '../kind-records.ts'
import type { PluginCore } from '../plugin.ts'
import type { StoredApproval } from './stored-approval.ts'

/** A message that asks or reminds an approver, under the id of its dispatch. */
export interface StoredPrompt {
  /** Key of the approval. */
  readonly approval: string
  /** As in the approval. */
  readonly user: string
  /** Hash of the user, for erasure. */
  readonly userKey: string
  /** End of the approval's time. */
  readonly expiresAt: number
}

/** Work that is due at an instant: an approval expires, or its end is to be reported. Of no tenant, so that one list has those of all. */
export interface StoredTask {
  readonly tenant: string
  /** Key of the approval. */
  readonly approval: string
  readonly task: 'expire' | 'report'
  readonly at: number
}

export interface ApprovalRecords {
  readonly approvals: KindRecords<StoredApproval>
  readonly prompts: KindRecords<StoredPrompt>
  readonly tasks: KindRecords<StoredTask>
}

/** Kind of the records of approvals, as the store names it. */
export const APPROVALS_KIND = 'approvals.approvals'

export function approvalRecords(core: Pick<PluginCore, 'name' | 'store' | 'clock'>): ApprovalRecords {
  return {
    approvals: recordsOf<StoredApproval>(core, 'approvals', {
      sort: {
        state: ({ end, createdAt }) => `${end ? 'done' : 'open'}-${digits(createdAt)}`,
        session: ({ session, createdAt }) => `${session}-${digits(createdAt)}`,
        run: ({ run, createdAt }) => `${run}-${digits(createdAt)}`,
        open: ({ end, run }) => (end ? undefined : run),
      },
      expiresAt: ({ end }) => end?.at,
    }),
    prompts: recordsOf<StoredPrompt>(core, 'prompts', {
      sort: { user: ({ userKey }) => userKey },
      expiresAt: ({ expiresAt }) => expiresAt,
    }),
    tasks: recordsOf<StoredTask>(core, 'tasks', { sort: { at: ({ at }) => digits(at) } }),
  }
}

/** Key of an approval. A session id and a tenant contain no space. */
export function approvalKey(tenant: string, sessionId: string, approvalId: string): Promise<string> {
  return sha256(`${tenant} ${sessionId} ${approvalId}`)
}

/** Key of a task. An approval that was removed may be asked for again under its id, while a task of before is still there. */
export function taskKey({ approval, task }: StoredTask, { createdAt }: StoredApproval): string {
  return `${approval}.${task}.${createdAt}`
}

/** Hash of a session or a user, short enough for a list. */
export async function shortHash(text: string): Promise<string> {
  return (await sha256(text)).slice(0, 32)
}

/** Hash of a run, short enough for a list. No session id contains a space. */
export function runHash({ sessionId, runId }: Pick<StoredApproval, 'sessionId' | 'runId'>): Promise<string> {
  return shortHash(`${sessionId} ${runId}`)
}

/** The part of a list whose texts begin with this one, before {@link digits}. */
export function beginningWith(text: string): { readonly from: string; readonly until: string } {
  return { from: `${text}-0`, until: `${text}-a` }
}

/** Texts of equal length, which sort as their instants. */
export function digits(instant: number): string {
  return String(instant).padStart(16, '0')
}
