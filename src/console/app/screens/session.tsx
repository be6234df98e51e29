import type { BudgetReport } from '../../../model/budget.ts'
import type { Run } from '../../../model/run.ts'
import type { Session, TimelineEntry } from '../../../model/session.ts'
import { type Page, withQuery } from '../api.ts'
import { Budgets } from '../budgets.tsx'
import { Pager } from '../list.tsx'
import { Badge, Empty, Facts, Shown, Time } from '../parts.tsx'
import { type Loaded, useRead } from '../reading.ts'
import { linkTo, place, setQuery } from '../router.ts'
import { Screen } from '../screen.tsx'
import { type TreeRow, treeRows } from '../session-rows.ts'
import { type TimeRow, TimeTable } from '../time-table.tsx'
import { compact, count, duration, money, tokensOf } from '../words.ts'

/** Entries of a page. */
const LIMIT = 100

export function SessionScreen({ sessionId }: { readonly sessionId: string }) {
  const { query } = place.value
  const isNewest = query.get('show') === 'newest'
  const cursor = query.get('cursor') ?? undefined
  const path = `agents/sessions/${encodeURIComponent(sessionId)}`
  const session = useRead<Session>(path)
  const budgets = useRead<BudgetReport>(withQuery('agents/budgets', { sessionId }))
  const page = useRead<Page<TimelineEntry>>(
    isNewest ? undefined : withQuery(`${path}/timeline`, { cursor, limit: LIMIT }),
  )
  // All at once, so that nothing moves.
  const isComplete = isAnswered(budgets) && (isNewest || isAnswered(page))
  return (
    <Screen title={`Session ${sessionId}`}>
      <Shown of={session.problem || isComplete ? session : { isLoading: true }}>
        {(of) => (
          <>
            <Totals of={of} />
            <Budgets of={budgets} />
            {isNewest ? (
              <Entries of={{ data: { items: of.timeline } }} sessionId={sessionId} isNewest />
            ) : (
              <Entries of={page} sessionId={sessionId} />
            )}
            <Models of={of} />
          </>
        )}
      </Shown>
    </Screen>
  )
}

function isAnswered({ data, problem }: Loaded<unknown>): boolean {
  return data !== undefined || problem !== undefined
}

function Totals({ of }: { readonly of: Session }) {
  const { sessionId, lastError, unpriced } = of
  return (
    <Facts
      of={{
        Created: <Time at={of.createdAt} />,
        Changed: <Time at={of.updatedAt} />,
        Runs: <a href={linkTo(['runs'], { sessionId })}>{count(of.runs.total)}</a>,
        Tokens: count(of.tokens),
        Cost: money(of.cost),
        'Without a price': unpriced.tokens > 0 && `${count(unpriced.tokens)} tokens`,
        'Duration p95': of.duration && duration(of.duration.p95),
        Dispatches: <a href={linkTo(['dispatches'], { sessionId })}>show</a>,
        'Last failure': lastError && (
          <a href={linkTo(['sessions', sessionId, 'runs', lastError.runId])}>{lastError.runId}</a>
        ),
      }}
    />
  )
}

/** The tree of runs and the dispatches of one page. A session can have more than a page: oldest first, or the newest ones. */
function Entries({
  of,
  sessionId,
  isNewest = false,
}: {
  readonly of: Loaded<Page<TimelineEntry>>
  readonly sessionId: string
  readonly isNewest?: boolean
}) {
  const hasMore = isNewest || place.value.query.has('cursor') || of.data?.next !== undefined
  return (
    <section>
      <h2>Runs and dispatches</h2>
      {hasMore && (
        <p class="pager">
          <button
            type="button"
            aria-pressed={!isNewest}
            onClick={() => setQuery({ show: undefined, cursor: undefined }, 'stay')}
          >
            From the start
          </button>
          <button
            type="button"
            aria-pressed={isNewest}
            onClick={() => setQuery({ show: 'newest', cursor: undefined }, 'stay')}
          >
            Newest {LIMIT}
          </button>
        </p>
      )}
      <Shown of={of}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              Nothing is recorded in this session yet. Post a run with its id to <code>/api/agents/session/run</code>.
            </Empty>
          ) : (
            <TimeTable
              label="Runs and dispatches on a time axis"
              heads={['Run or dispatch', 'Status', 'Tokens', 'Cost']}
              rows={rowsOf(items, sessionId)}
            />
          )
        }
      </Shown>
      <Pager next={of.data?.next} />
    </section>
  )
}

/** The tree of runs, then the dispatches. */
function rowsOf(entries: readonly TimelineEntry[], sessionId: string): readonly TimeRow[] {
  const recorded = new Map(entries.flatMap((entry) => (entry.type === 'run' ? [[entry.run, entry.at] as const] : [])))
  const runs = treeRows([...recorded.keys()]).map((row) => runRow(row, recorded.get(row.run) ?? '', sessionId))
  const dispatches = entries.flatMap((entry): readonly TimeRow[] => {
    if (entry.type !== 'dispatch') return []
    const { dispatchId, eventType, status } = entry.dispatch
    const at = Date.parse(entry.at)
    const cells = [
      <a key="event" href={linkTo(['dispatches', dispatchId])}>
        {eventType}
      </a>,
      <Badge key="status">{status}</Badge>,
      '',
      '',
    ]
    return [{ key: dispatchId, cells, from: at, to: at, tone: status === 'failed' ? 'bad' : 'plain' }]
  })
  return [...runs, ...dispatches]
}

function runRow({ run, depth, isParentElsewhere }: TreeRow, recordedAt: string, sessionId: string): TimeRow {
  const { runId, status, agent, model, timings, counts, cost, parentRunId } = run
  const from = Date.parse(timings?.startedAt ?? recordedAt)
  const isOpen = status === 'running' || status === 'waiting' || status === 'queued'
  const tokens = tokensOf(counts)
  const parent = parentRunId === undefined ? undefined : linkTo(['sessions', sessionId, 'runs', parentRunId])
  return {
    key: runId,
    cells: [
      <span key="run">
        <a href={linkTo(['sessions', sessionId, 'runs', runId])}>{agent?.name ?? runId}</a>{' '}
        {model && <small>{model}</small>}{' '}
        {isParentElsewhere && (
          <small>
            below <a href={parent}>{parentRunId}</a>, which is not on this page
          </small>
        )}
      </span>,
      <Badge key="status">{status}</Badge>,
      tokens === undefined ? '' : compact(tokens),
      cost ? money([cost]) : '',
    ],
    from,
    to: isOpen ? undefined : endOf(run, from),
    tone: status === 'completed' ? 'good' : isOpen ? 'going' : 'bad',
    depth,
  }
}

function endOf({ timings }: Run, from: number): number {
  if (timings?.endedAt !== undefined) return Math.max(from, Date.parse(timings.endedAt))
  return from + (timings?.durationMs ?? 0)
}

function Models({ of: { models } }: { readonly of: Session }) {
  if (models.length === 0) return null
  return (
    <section>
      <h2>Models</h2>
      <ul>
        {models.map(({ provider, model, runs, cost }) => (
          <li key={`${provider} ${model}`}>
            {provider} {model ?? 'unknown'}: {count(runs)} runs{cost.length > 0 && `, ${money(cost)}`}
          </li>
        ))}
      </ul>
    </section>
  )
}
