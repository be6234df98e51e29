import { joinData } from '../../../src/compose/plugin-data.ts'
import type { SessionRunDeps } from '../../../src/core/runs/record-deps.ts'
import { isSallyportError } from '../../../src/errors.ts'
import type { TimelineEntry } from '../../../src/model/session.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import type { RunStore } from '../../../src/ports/run-store.ts'
import { type Runs, runsOf } from '../../../src/services/runs.ts'
import { type Sessions, sessionsOf } from '../../../src/services/sessions.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { acceptance } from '../../storage/storing.ts'
import { recorder, stillClock } from './recorder.ts'

type Store = RunStore & DispatchStore

/** An app with runs in memory. The clock stands still; its timers fire in the next turn of the event loop. */
export function app(wrap: (store: Store) => Store = (store) => store): {
  clock: ReturnType<typeof stillClock>
  store: Store
  deps: SessionRunDeps & { readonly store: RunStore }
  post: ReturnType<typeof recorder>['post']
  runs: Runs
  sessions: Sessions
  /** Accepts a dispatch now. */
  dispatch(dispatchId: string, sessionId?: string, tenant?: string): Promise<void>
} {
  const still = stillClock()
  const after: Clock['after'] = (_, run) => {
    const timer = setImmediate(run)
    return () => clearImmediate(timer)
  }
  const clock = { ...still, after }
  const store = wrap(memoryStore({ clock }))
  const plugins = joinData([], clock)
  const { deps, post } = recorder({ store, clock })
  return {
    clock,
    store,
    deps,
    post,
    runs: runsOf({ ...deps, plugins }),
    sessions: sessionsOf({ store, dispatches: store, clock, plugins }),
    async dispatch(dispatchId, sessionId = 's1', tenant = 'default') {
      await store.accept(acceptance(dispatchId, { sessionId, tenant, deliveries: [] }))
    },
  }
}

/** The problems of a call with invalid options. */
export async function optionProblems(call: () => unknown): Promise<readonly object[]> {
  try {
    await call()
  } catch (thrown) {
    if (isSallyportError(thrown) && thrown.code === 'option_invalid') return thrown.problems
    throw thrown
  }
  throw new Error('was taken')
}

/** All pages of a list. */
export async function allPages<T>(
  read: (cursor: {
    readonly cursor?: string
  }) => Promise<{ readonly items: readonly T[]; readonly nextCursor?: string }>,
  between: () => Promise<unknown> = async () => {},
): Promise<T[][]> {
  const pages: T[][] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor === undefined ? {} : { cursor })
    pages.push([...page.items])
    cursor = page.nextCursor
    if (pages.length > 2_000) throw new Error('the pages have no end')
    await between()
  } while (cursor !== undefined)
  return pages
}

/** Id of what an entry of a timeline shows. */
export function idOf(entry: TimelineEntry): string {
  if (entry.type === 'run') return entry.run.runId
  return entry.type === 'dispatch' ? entry.dispatch.dispatchId : entry.approval.approvalId
}
