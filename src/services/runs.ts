import { refusalOf } from '../core/answers/fault.ts'
import { viewRun } from '../core/runs/merge/selectors.ts'
import { CLIENT_STATUSES } from '../core/runs/status-names.ts'
import { type SweepDeps, sweepStale } from '../core/runs/sweep-stale.ts'
import { yieldToEventLoop } from '../core/yield-to-event-loop.ts'
import type { EndStatus, Run, RunStatus } from '../model/run.ts'
import type { RunFilter } from '../model/run-filter.ts'
import { hasEnded } from '../model/run-status.ts'
import { oneOf } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Page } from '../ports/dispatch-query.ts'
import type { RunKey, RunStore } from '../ports/run-store.ts'
import { age, instantOption, storedText, type TenantScope, tenant, tenantOf } from './call-checks.ts'
import { type ListOptions, listQuery, MAX_PAGE, pageChecks, pruneAll, viewPage } from './pagination.ts'
import { type PluginData, type Shown, viewRuns } from './plugin-data.ts'

/** Filter of runs to export: those that match all given options. */
export interface RunExportOptions extends TenantScope, RunFilter {
  /** Created at or after this instant; a number is epoch milliseconds. */
  readonly since?: Date | number | undefined
  /** Created before this instant; a number is epoch milliseconds. */
  readonly until?: Date | number | undefined
  /** Order by creation. Default: `oldest`. */
  readonly first?: 'oldest' | 'newest' | undefined
}

/** Filter of runs to read: those that match all given options. */
export interface RunListOptions extends RunExportOptions, ListOptions {}

/** Filter of runs to expire. */
export interface SweepOptions {
  /** Milliseconds since the last post about a run, up to 20 years. */
  readonly olderThan: number
  /** Default: every tenant. */
  readonly tenant?: string | undefined
}

/** Filter of runs to remove. */
export interface PruneOptions {
  /** Milliseconds since the last change of a run, up to 20 years. */
  readonly olderThan: number
  /** Any status, also one that is not final. Default: all final ones. */
  readonly status?: RunStatus | undefined
  /** Default: every tenant. */
  readonly tenant?: string | undefined
}

/** Runs of a host. Every method throws errors of the store, and `option_invalid` with all problems of its options at once. */
export interface Runs {
  /** Returns a run of a session. Two sessions may have runs of the same id. */
  get(of: { readonly sessionId: string; readonly runId: string }, scope?: TenantScope): Promise<Run | undefined>
  list(options?: RunListOptions): Promise<Page<Run>>
  /**
   * Exports runs as NDJSON: one line per run, with a newline at its end. Reads page by page, at the pace of its reader, and stops
   * with it. As a response: `ReadableStream.from(runs.export()).pipeThrough(new TextEncoderStream())`.
   *
   * @throws {SallyportError} `option_invalid`, at once. Errors of the store are thrown during reading.
   */
  export(options?: RunExportOptions): AsyncIterable<string>
  /**
   * Makes stale `running` runs `expired`, ended at their last post, except those with an open approval. The first error is
   * thrown after the other runs are swept.
   */
  sweepStale(options: SweepOptions): Promise<{ readonly expired: number }>
  /**
   * Removes runs that have ended, or have the given status, and are unchanged for this long. Session and user totals remain. A
   * later post creates a new run, which is counted again. Runs with pending run events are kept.
   */
  prune(options: PruneOptions): Promise<{ readonly pruned: number }>
  /**
   * Removes a session with all its runs and totals; or the runs of a user, with the user's spend and the user's failures in session
   * totals. Descendant runs without a user and the totals of sessions remain. Pending run events of removed runs are dropped.
   * Dispatches are kept as a record of sent messages; what plugins keep about a session is erased before it.
   */
  erase(
    of: { readonly sessionId: string } | { readonly userId: string },
    scope?: TenantScope,
  ): Promise<{ readonly erased: number }>
}

const LIST = 'runs'

/** Number of runs that an export reads at once. */
const PAGE = 100

const STATUSES: readonly RunStatus[] = [...CLIENT_STATUSES, 'expired']
const END_STATUSES: readonly EndStatus[] = STATUSES.filter(hasEnded)

const EXPORT_CHECKS: Checks<RunExportOptions> = {
  tenant,
  sessionId: storedText,
  status: oneOf(STATUSES),
  provider: storedText,
  model: storedText,
  userId: storedText,
  tag: storedText,
  since: instantOption,
  until: instantOption,
  first: oneOf(['oldest', 'newest']),
}
const LIST_CHECKS: Checks<RunListOptions> = { ...EXPORT_CHECKS, ...pageChecks(LIST) }
const SWEEP_CHECKS: Checks<SweepOptions> = { olderThan: required(age), tenant }
const PRUNE_CHECKS: Checks<PruneOptions> = { ...SWEEP_CHECKS, status: oneOf(STATUSES) }
const GET_CHECKS: Checks<Omit<RunKey, 'tenant'>> = { sessionId: required(storedText), runId: required(storedText) }
const ERASE_CHECKS: Checks<Erased> = { sessionId: storedText, userId: storedText }

interface RunsDeps extends Omit<SweepDeps, 'tenant' | 'store'> {
  readonly store: RunStore
  readonly plugins: Pick<PluginData, 'viewRuns' | 'eraseSession'>
}

export function runsOf({ plugins, ...deps }: RunsDeps): Runs {
  const { store, clock } = deps

  async function readPage(options: RunListOptions, shown: Shown): Promise<Page<Run>> {
    const { status, ...query } = listQuery(LIST, options)
    const page = await store.listRuns({ ...query, ...(status && { status: [status] }) })
    const items = await viewRuns(query.tenant, page.items.map(viewRun), shown, plugins)
    return viewPage(LIST, { ...page, items }, (run) => run)
  }

  async function* lines(options: RunExportOptions): AsyncGenerator<string, void> {
    let cursor: string | undefined
    do {
      if (cursor !== undefined) await yieldToEventLoop(clock)
      const page = await readPage({ ...options, limit: PAGE, ...(cursor !== undefined && { cursor }) }, 'export')
      for (const run of page.items) yield `${JSON.stringify(run)}\n`
      cursor = page.nextCursor
    } while (cursor !== undefined)
  }

  return {
    async get(of, scope) {
      const { sessionId, runId } = readOptions('runs.get', of, GET_CHECKS)
      const key = { tenant: tenantOf('runs.get', scope), sessionId, runId }
      const found = await store.findRun(key)
      if (!found) return undefined
      const [run] = await viewRuns(key.tenant, [viewRun(found)], 'one', plugins)
      return run
    },
    async list(options = {}) {
      return readPage(readOptions('runs.list', options, LIST_CHECKS), 'page')
    },
    export(options = {}) {
      return lines(readOptions('runs.export', options, EXPORT_CHECKS))
    },
    async sweepStale(options) {
      const { olderThan, tenant } = readOptions('runs.sweepStale', options, SWEEP_CHECKS)
      try {
        return await sweepStale(olderThan, { ...deps, tenant })
      } catch (thrown) {
        throw refusalOf(thrown).cause
      }
    },
    async prune(options) {
      const { olderThan, status, tenant } = readOptions('runs.prune', options, PRUNE_CHECKS)
      const query = { tenant, status: status ? [status] : END_STATUSES, unchangedForMs: olderThan, limit: MAX_PAGE }
      return { pruned: await pruneAll(() => store.removeRuns(query), query.limit, clock) }
    },
    async erase(of, scope) {
      const [tenant, erased] = [tenantOf('runs.erase', scope), oneId(of)]
      const { sessionId } = erased
      if (sessionId !== undefined) await plugins.eraseSession({ tenant, sessionId })
      return { erased: await store.erase(tenant, erased) }
    },
  }
}

interface Erased {
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
}

function oneId(of: Erased): { sessionId: string } | { sessionId?: never; userId: string } {
  const { sessionId, userId } = readOptions('runs.erase', of, ERASE_CHECKS, (given) =>
    (given.sessionId === undefined) === (given.userId === undefined)
      ? [{ detail: 'takes a sessionId or a userId, and not both' }]
      : [],
  )
  return sessionId === undefined ? { userId: userId as string } : { sessionId }
}
