import { refusalOf } from '../core/answers/fault.ts'
import { CLIENT_STATUSES, hasEnded } from '../core/runs/merge/run-status.ts'
import { viewRun } from '../core/runs/run-view.ts'
import { type SweepDeps, sweepStale } from '../core/runs/sweep-stale.ts'
import { yieldToEventLoop } from '../core/time-out.ts'
import type { EndStatus, Run, RunStatus } from '../model/run.ts'
import { oneOf } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { Page } from '../ports/dispatch-query.ts'
import { age, instantOption, tenant } from './call-checks.ts'
import {
  type ListOptions,
  listQuery,
  MAX_PAGE,
  pageChecks,
  type TenantScope,
  tenantOf,
  viewPage,
} from './pagination.ts'
import { pruneAll } from './prune-all.ts'
import { storedId, storedText } from './stored-text.ts'

/** Which runs to export: those that fit all that is said. */
export interface RunExportOptions extends TenantScope {
  readonly sessionId?: string | undefined
  readonly status?: RunStatus | undefined
  readonly provider?: string | undefined
  /** The model that was asked for. */
  readonly model?: string | undefined
  readonly userId?: string | undefined
  /** One that is among the run's tags. */
  readonly tag?: string | undefined
  /** Created then or later; a number is epoch milliseconds. */
  readonly since?: Date | number | undefined
  /** Created before then; a number is epoch milliseconds. */
  readonly until?: Date | number | undefined
  /** By when they were created. Default: `oldest`. */
  readonly first?: 'oldest' | 'newest' | undefined
}

/** Which runs to read: those that fit all that is said. */
export interface RunListOptions extends RunExportOptions, ListOptions {}

/** Which runs are given up. */
export interface SweepOptions {
  /** Milliseconds since a run was last heard of, up to 20 years. */
  readonly olderThan: number
  /** Default: every tenant. */
  readonly tenant?: string | undefined
}

/** Which runs are removed. */
export interface PruneOptions {
  /** Milliseconds since a run last changed, up to 20 years. */
  readonly olderThan: number
  /** Any that is named, also of runs that go on. Default: all that a run ends with. */
  readonly status?: RunStatus | undefined
  /** Default: every tenant. */
  readonly tenant?: string | undefined
}

/** The runs of a host. Each throws what the store throws, and `option_invalid` for options that are none: all that is wrong at once. */
export interface Runs {
  get(runId: string, scope?: TenantScope): Promise<Run | undefined>
  list(options?: RunListOptions): Promise<Page<Run>>
  /**
   * All of them as NDJSON: a line for each run, which ends with a newline. Reads page by page, as fast as it is read itself, and
   * stops when its reader does. As an answer: `ReadableStream.from(runs.export()).pipeThrough(new TextEncoderStream())`.
   *
   * @throws {SallyportError} `option_invalid`, at once; what the store throws comes while it is read.
   */
  export(options?: RunExportOptions): AsyncIterable<string>
  /**
   * Makes runs `expired` that say they are running and have not been heard of for so long; they ended when they last were. A
   * post that tells nothing new is a sign of life too. What is `queued` or `waiting` is spared, and a final status that comes
   * late replaces `expired`. One run that fails holds up no other: what it threw is thrown in the end.
   */
  sweepStale(options: SweepOptions): Promise<{ readonly expired: number }>
  /**
   * Removes runs that have ended, or have the status that is named, and not changed for so long. What they added to their
   * session and their user stays: a run that is posted about again after that is a new one, and counted again. Runs of which
   * something is still to be told are spared.
   */
  prune(options: PruneOptions): Promise<{ readonly pruned: number }>
  /**
   * Removes a session with all its runs and numbers; or the runs that name a user, with what the user spent and what sessions
   * say of failures that name the user. Runs below them that name nobody stay, and so does what sessions sum up. What is still
   * to be told of what is removed is told no more. Dispatches are kept: they are records of what was sent.
   */
  erase(
    of: { readonly sessionId: string } | { readonly userId: string },
    scope?: TenantScope,
  ): Promise<{ readonly erased: number }>
}

/** The name of the list, in its cursors. */
const LIST = 'runs'

/** Read at once for an export. */
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
const ERASE_CHECKS: Checks<Erased> = { sessionId: storedText, userId: storedText }

export function runsOf(deps: Omit<SweepDeps, 'tenant'>): Runs {
  const { store, clock } = deps

  async function readPage(options: RunListOptions): Promise<Page<Run>> {
    const { status, ...query } = listQuery(LIST, options)
    const page = await store.listRuns({ ...query, ...(status && { status: [status] }) })
    return viewPage(LIST, page, viewRun)
  }

  async function* lines(options: RunExportOptions): AsyncGenerator<string, void> {
    let cursor: string | undefined
    do {
      if (cursor !== undefined) await yieldToEventLoop(clock)
      const page = await readPage({ ...options, limit: PAGE, ...(cursor !== undefined && { cursor }) })
      for (const run of page.items) yield `${JSON.stringify(run)}\n`
      cursor = page.nextCursor
    } while (cursor !== undefined)
  }

  return {
    async get(runId, scope) {
      const found = await store.findRun(tenantOf('runs.get', scope), storedId('runs.get', 'runId', runId))
      return found && viewRun(found)
    },
    async list(options = {}) {
      return readPage(readOptions('runs.list', options, LIST_CHECKS))
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
      return { erased: await store.erase(tenantOf('runs.erase', scope), oneId(of)) }
    },
  }
}

/** What is erased, as it may come. */
interface Erased {
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
}

function oneId(of: Erased): { sessionId: string } | { userId: string } {
  const { sessionId, userId } = readOptions('runs.erase', of, ERASE_CHECKS, (given) =>
    (given.sessionId === undefined) === (given.userId === undefined)
      ? [{ detail: 'takes a sessionId or a userId, and not both' }]
      : [],
  )
  return sessionId === undefined ? { userId: userId as string } : { sessionId }
}
