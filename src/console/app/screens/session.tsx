import { useRef } from 'preact/hooks'
import type { Run } from '../../../model/run.ts'
import { NEWEST_ENTRIES, type Session, type TimelineEntry } from '../../../model/session.ts'
import { useAdditions } from '../additions.ts'
import { type Page, withQuery } from '../api.ts'
import { Pager } from '../list.tsx'
import { Badge, Empty, Facts, Link, Shown, Time, toneOf } from '../parts.tsx'
import { type Loaded, usePage, useRead } from '../reading.ts'
import type { Redacted } from '../redacted.ts'
import { place, setQuery } from '../router.ts'
import { Screen } from '../screen.tsx'
import { type TreeRow, treeRows } from '../session-rows.ts'
import { openSpan, spanOf, type TimeRow, TimeTable } from '../time-table.tsx'
import { compact, count, duration, instantOf, isNumber, joined, money, textOf, tokensOf } from '../words.ts'

type Entry = Redacted<TimelineEntry>

export function SessionScreen({ sessionId }: { readonly sessionId: string }) {
  const { query } = place.value
  const isNewest = query.get('show') === 'newest'
  const cursor = query.get('cursor') ?? undefined
  const path = `agents/sessions/${encodeURIComponent(sessionId)}`
  const session = useRead<Session>(path)
  const additions = useAdditions({ sessionId })
  // A shorter session is whole in its own answer.
  const isLong = session.data !== undefined && session.data.timeline.length >= NEWEST_ENTRIES
  const hasPages = !isNewest && (isLong || cursor !== undefined)
  const page = usePage<TimelineEntry>(
    hasPages ? withQuery(`${path}/timeline`, { cursor, limit: NEWEST_ENTRIES }) : undefined,
  )
  const isPage = hasPages && isAnswered(page)
  // All at once, so that nothing moves. What is shown stays: a session may become long.
  const isShown = useRef(false)
  if (isAnswered(session) && additions.every(({ isReady }) => isReady) && isPage === hasPages) isShown.current = true
  return (
    <Screen title={`Session ${sessionId}`}>
      <Shown of={session.problem || isShown.current ? session : { isLoading: true }}>
        {(of) => (
          <>
            <Totals of={of} sessionId={sessionId} />
            {additions.map(({ shown }) => shown)}
            <Entries
              of={isPage ? page : { data: { items: of.timeline }, isLoading: hasPages }}
              sessionId={sessionId}
              isNewest={isNewest}
            />
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

function Totals({ of, sessionId }: { readonly of: Redacted<Session>; readonly sessionId: string }) {
  const { lastError, unpriced } = of
  return (
    <Facts
      of={{
        Created: <Time at={of.createdAt} />,
        Changed: <Time at={of.updatedAt} />,
        Runs: (
          <Link to={['runs']} query={{ sessionId }}>
            {count(of.runs.total)}
          </Link>
        ),
        Tokens: count(of.tokens),
        Cost: money(of.cost),
        'Reported by agents alone': reportedBy(of.byAgent),
        'Not exact': of.inexact === true && 'a sum is greater than can be counted',
        'Without a price': unpriced.tokens !== 0 && `${count(unpriced.tokens)} tokens`,
        'Duration p95': of.duration && duration(of.duration.p95),
        Dispatches: (
          <Link to={['dispatches']} query={{ sessionId }}>
            show
          </Link>
        ),
        'Last failure': lastError && <Link to={['sessions', sessionId, 'runs', lastError.runId]} />,
      }}
    />
  )
}

function reportedBy({ tokens, cost }: Redacted<Session['byAgent']>): string | false {
  const parts = [tokens !== 0 && `${count(tokens)} tokens`, cost.length > 0 && money(cost)]
  return parts.filter(Boolean).join(', ')
}

/** The tree of runs and the dispatches of one page. A session can have more than a page: oldest first, or the newest ones. */
function Entries({
  of,
  sessionId,
  isNewest,
}: {
  readonly of: Loaded<Page<Entry>>
  readonly sessionId: string
  readonly isNewest: boolean
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
            Newest {NEWEST_ENTRIES}
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

/** The tree of runs, then the dispatches and approvals. */
function rowsOf(entries: readonly Entry[], sessionId: string): readonly TimeRow[] {
  const recorded = new Map(entries.flatMap((entry) => ('run' in entry ? [[entry.run, entry.at] as const] : [])))
  const runs = treeRows([...recorded.keys()]).map((row) => runRow(row, recorded.get(row.run), sessionId))
  return [...runs, ...entries.flatMap((entry) => ('run' in entry ? [] : [momentRow(entry, sessionId)]))]
}

/** A dispatch or an approval: a moment on the axis. */
function momentRow(entry: Exclude<Entry, { readonly run: unknown }>, sessionId: string): TimeRow {
  const [id, { eventType, status }, to] =
    'dispatch' in entry
      ? [entry.dispatch.dispatchId, entry.dispatch, ['dispatches', entry.dispatch.dispatchId]]
      : [entry.approval.approvalId, entry.approval, ['approvals', sessionId, entry.approval.approvalId]]
  const at = instantOf(entry.at)
  const cells = [
    <Link key="event" to={to}>
      {eventType}
    </Link>,
    <Badge key="status">{status}</Badge>,
    '',
    '',
  ]
  return { key: joined(entry.type, id), cells, span: spanOf(at, at), tone: status === 'failed' ? 'bad' : 'plain' }
}

function runRow({ run, depth, isParentElsewhere }: TreeRow, recordedAt: unknown, sessionId: string): TimeRow {
  const { runId, status, agent, model, timings, counts, cost, parentRunId } = run
  const from = instantOf(timings?.startedAt === undefined ? recordedAt : timings.startedAt)
  const isOpen = status === 'running' || status === 'waiting' || status === 'queued'
  return {
    key: textOf(runId),
    cells: [
      <span key="run">
        <Link to={['sessions', sessionId, 'runs', runId]}>{agent?.name === undefined ? runId : agent.name}</Link>{' '}
        {model !== undefined && <small>{textOf(model)}</small>}{' '}
        {isParentElsewhere && (
          <small>
            below <Link to={['sessions', sessionId, 'runs', parentRunId]} />, which is not on this page
          </small>
        )}
      </span>,
      <Badge key="status">{status}</Badge>,
      compact(tokensOf(counts)),
      cost ? money([cost]) : '',
    ],
    span: isOpen ? openSpan(from) : spanOf(from, endOf(run, from)),
    tone: toneOf(status),
    depth,
  }
}

function endOf({ timings }: Redacted<Run>, from = 0): number | undefined {
  if (timings?.endedAt !== undefined) return instantOf(timings.endedAt)
  const took = timings?.durationMs === undefined ? 0 : timings.durationMs
  return isNumber(took) ? from + took : undefined
}

function Models({ of: { models } }: { readonly of: Redacted<Session> }) {
  if (models.length === 0) return null
  return (
    <section>
      <h2>Models</h2>
      <ul>
        {models.map(({ provider, model, runs, cost }) => (
          <li key={joined(provider, model)}>
            {joined(provider, model) || 'No model'}: {count(runs)} {runs === 1 ? 'run' : 'runs'}
            {cost.length > 0 && `, ${money(cost)}`}
          </li>
        ))}
      </ul>
    </section>
  )
}
