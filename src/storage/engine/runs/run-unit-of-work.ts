import { compoundKey } from '../../../model/compound-key.ts'
import type { MergeKey } from '../../../ports/run-store.ts'
import type { Changes } from '../changes.ts'
import type { RecordOf } from '../kinds.ts'
import type { RunRecord, SessionRecord } from './run-records.ts'
import { SessionUnitOfWork, type Spent } from './session-unit-of-work.ts'

/** Unit of work: the sessions of some merges, for one attempt to write them. */
export class RunUnitOfWork {
  /** A run or sum was put that no session expected. */
  hasOthers = false
  readonly #byId = new Map<string, SessionUnitOfWork>()
  #last: SessionUnitOfWork | undefined

  get sessions(): Iterable<SessionUnitOfWork> {
    return this.#byId.values()
  }

  /** Runs that were needed and are not loaded. Results are invalid until they are. */
  get missing(): readonly MergeKey[] {
    return [...this.sessions].flatMap(({ tenant, sessionId, missing }) =>
      missing.map((runId) => ({ tenant, sessionId, runId })),
    )
  }

  get spent(): readonly Spent[] {
    const all: Spent[] = []
    for (const { spent } of this.#byId.values()) all.push(...spent)
    return all
  }

  session(tenant: string, sessionId: string): SessionUnitOfWork {
    const last = this.#last
    if (last?.sessionId === sessionId && last.tenant === tenant) return last
    const id = compoundKey(tenant, sessionId)
    const session = this.#byId.get(id) ?? new SessionUnitOfWork(id, { tenant, sessionId })
    this.#byId.set(id, session)
    this.#last = session
    return session
  }

  putSession(record: SessionRecord): void {
    this.session(record.tenant, record.session_id).putSession(record)
  }

  putRun(record: RunRecord): void {
    const session = this.session(record.tenant, record.session_id)
    if (session.expect(record.run_id)) this.hasOthers = true
    session.putRun(record)
  }

  putSum(record: RecordOf<'run_sums'>): void {
    const session = this.session(record.tenant, record.session_id)
    if (session.expect(record.run_id)) this.hasOthers = true
    session.putSum(record)
  }

  /** All ancestors of the runs were read: those that were not put do not exist. */
  declareAncestorsRead(keys: readonly MergeKey[]): void {
    for (const key of keys) {
      const session = this.session(key.tenant, key.sessionId)
      session.snapshot(key)
      session.missing.length = 0
    }
  }

  /** Adds all changes except spends. The unit of work then has the versions that will be stored. */
  save(changes: Changes): void {
    for (const session of this.#byId.values()) session.save(changes)
  }
}
