import type { RunStatus } from '../../../model/run.ts'
import type { RemovalQuery, RunKey } from '../../../ports/run-store.ts'
import { isOpenRun } from '../../rules/run-rules.ts'
import { Changes, retryOnConflict } from '../changes.ts'
import type { IndexOf } from '../kinds.ts'
import type { Filter, Prefix, Records } from '../records.ts'
import { type RemovedPart, removalParts } from '../removal-parts.ts'
import type { RunRecord } from './run-records.ts'

/** Most records of one commit; the tags of one run may exceed it. */
const MOST = 500
/** Most runs that one scan looks at. */
const SEEN = 10_000
/** Columns of a run that {@link removeRecords} uses. */
export const REMOVAL_COLUMNS: readonly (keyof RunRecord)[] = ['run_id', 'session_id', 'tenant', 'tags', 'version']

/** Drops what is cached of a session. */
export type Forget = (session: Pick<RunKey, 'tenant' | 'sessionId'>) => void

/** Removes runs: ended ones first, then open ones if requested. Those that changed longest ago, or were created first, go first. */
export function runRemover(records: Records, forget: Forget): (query: RemovalQuery) => Promise<number> {
  const removeSome = removalParts()

  async function removeOf(part: Part, limit: number): Promise<RemovedPart> {
    let count = 0
    let after: Prefix | undefined
    const untilNow = (): RemovedPart => ({ count, until: Number(after?.[0] ?? part.from) })
    if (part.status.length === 0) return untilNow()
    for (;;) {
      const left = Math.floor(limit) - count
      if (left <= 0) return untilNow()
      const { removed, last } = await retryOnConflict(() => removeBatch(part, after, left, records))
      for (const { tenant, session_id } of removed) forget({ tenant, sessionId: session_id })
      count += removed.length
      if (!last) return untilNow()
      after = last
    }
  }

  return async ({ tenant, status, unchangedForMs, limit }) => {
    const { earliest } = await records.now()
    const before = earliest - Math.floor(unchangedForMs)
    const ended = { index: 'over', tenant, status: status.filter((one) => !isOpenRun(one)), before } as const
    const key = JSON.stringify([tenant, ended.status])
    const removed = await removeSome(key, limit, (from, most) => removeOf({ ...ended, from }, most))
    const open = { index: 'open', tenant, status: status.filter(isOpenRun), before, from: 0 } as const
    return removed + (await removeOf(open, limit - removed)).count
  }
}

/** Adds the removal of runs and their tags. Tags may be read after their run, because its version guards them. */
export async function removeRecords(changes: Changes, runs: readonly RunRecord[], records: Records): Promise<void> {
  const tagged = runs.filter(({ tags }) => tags !== null)
  const keys = tagged.map(({ run_id, session_id, tenant }) => [run_id, session_id, tenant])
  const { run_tags: tags = [] } = await records.read([{ kind: 'run_tags', with: keys, columns: ['version'] }])
  for (const { run_id, session_id, tenant, version } of runs)
    changes.remove('runs', { run_id, session_id, tenant, version })
  for (const { run_id, session_id, tenant, tag_key, version } of tags)
    changes.remove('run_tags', { run_id, session_id, tenant, tag_key, version })
}

/** Most records of a run and its tags, each of which has a line. */
export function recordsOf({ tags }: RunRecord): number {
  return tags === null ? 1 : tags.split('\n').length - 1
}

/** Runs that have not changed since an instant. */
interface Part {
  /** Its first column is the instant of the last change, or an earlier one. */
  readonly index: Extract<IndexOf<'runs'>, 'over' | 'open'>
  readonly tenant: string | undefined
  readonly status: readonly RunStatus[]
  readonly before: number
  /** First instant in the index. */
  readonly from: number
}

/** Removes some runs after a position. `last`: the position where the next batch starts; `undefined`: no runs are left. */
async function removeBatch(
  { index, tenant, status, before, from }: Part,
  after: Prefix | undefined,
  limit: number,
  records: Records,
): Promise<{ readonly removed: readonly RunRecord[]; readonly last: Prefix | undefined }> {
  const where: Filter[] = [
    { column: 'status', in: status },
    { column: 'updated_at', below: before },
    ...(tenant === undefined ? [] : [{ column: 'tenant', in: [tenant] }]),
  ]
  const { found, last } = await records.scan<'runs'>({
    ...{ kind: 'runs', index, with: [[]], from: [from], until: [before], ...(after && { after }) },
    ...{ where, limit: Math.min(limit, MOST), most: SEEN, columns: [...REMOVAL_COLUMNS, 'pending_since'] },
  })
  const changes = new Changes()
  const removed: RunRecord[] = []
  let size = 0
  let seen = 0
  for (; seen < found.length && size < MOST; seen++) {
    const record = found[seen]?.record
    if (!record || record.pending_since !== null) continue
    size += recordsOf(record)
    removed.push(record)
  }
  await removeRecords(changes, removed, records)
  await changes.commit(records)
  return { removed, last: seen < found.length ? found[seen - 1]?.at : last }
}
