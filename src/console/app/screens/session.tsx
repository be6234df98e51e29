import type { BudgetReport } from '../../../model/budget.ts'
import type { RunNode, Session, TimelineEntry } from '../../../model/session.ts'
import { useRead, withQuery } from '../api.ts'
import { type Span, TimeAxis } from '../charts.tsx'
import { Badge, count, duration, Facts, money, Shown, Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { Screen } from '../shell.tsx'

export function SessionScreen({ sessionId }: { readonly sessionId: string }) {
  const read = useRead<Session>(`agents/sessions/${encodeURIComponent(sessionId)}`)
  return (
    <Screen title={`Session ${sessionId}`}>
      <Shown of={read}>
        {(session) => (
          <>
            <Facts
              of={{
                Created: <Time at={session.createdAt} />,
                Changed: <Time at={session.updatedAt} />,
                Runs: <a href={linkTo(['runs'], { sessionId })}>{count(session.runs.total)}</a>,
                Tokens: count(session.tokens),
                Cost: money(session.cost),
                'Without a price': session.unpriced.tokens > 0 && `${count(session.unpriced.tokens)} tokens`,
                'Duration p95': session.duration && duration(session.duration.p95),
                'Last failure': session.lastError && (
                  <a href={linkTo(['sessions', sessionId, 'runs', session.lastError.runId])}>
                    {session.lastError.runId}
                  </a>
                ),
              }}
            />
            <Budgets sessionId={sessionId} />
            <section>
              <h2>Runs and dispatches</h2>
              {session.timeline.length === 0 ? (
                <p class="state">Nothing is recorded in this session yet.</p>
              ) : (
                <TimeAxis label="Runs and dispatches on a time axis" spans={spansOf(session, sessionId)} />
              )}
            </section>
            {session.models.length > 0 && (
              <section>
                <h2>Models</h2>
                <ul>
                  {session.models.map(({ provider, model, runs, cost }) => (
                    <li key={`${provider} ${model}`}>
                      {provider} {model ?? 'unknown'}: {count(runs)} runs{cost.length > 0 && `, ${money(cost)}`}
                    </li>
                  ))}
                </ul>
              </section>
            )}
          </>
        )}
      </Shown>
    </Screen>
  )
}

function Budgets({ sessionId }: { readonly sessionId: string }) {
  const read = useRead<BudgetReport>(withQuery('agents/budgets', { sessionId }))
  const { budgets = [] } = read.data ?? {}
  if (budgets.length === 0) return null
  return (
    <section>
      <h2>Budgets</h2>
      <ul>
        {budgets.map(({ name, level, spent, soft, hard }) => (
          <li key={name}>
            {name} <Badge>{level}</Badge> {count(spent.tokens)} tokens
            {spent.cost.length > 0 && `, ${money(spent.cost)}`} spent
            {hard?.tokens !== undefined && `, at most ${count(hard.tokens)} tokens`}
            {hard?.cost && `, at most ${money([hard.cost])}`}
            {soft?.cost && `, warns at ${money([soft.cost])}`}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The tree of runs, then the dispatches, all on one time axis. */
function spansOf({ tree, timeline }: Session, sessionId: string): readonly Span[] {
  const starts = new Map(timeline.flatMap((entry) => (entry.type === 'run' ? [[entry.run.runId, entry] as const] : [])))
  const runs = tree.flatMap((node) => spansBelow(node, 0, starts, sessionId))
  const dispatches = timeline.flatMap((entry): Span[] => {
    if (entry.type !== 'dispatch') return []
    const { dispatchId, eventType, status } = entry.dispatch
    const at = Date.parse(entry.at)
    const tone = status === 'failed' || status === 'partial' ? 'bad' : 'plain'
    return [{ label: `${eventType}: ${status}`, from: at, to: at, tone, href: linkTo(['dispatches', dispatchId]) }]
  })
  return [...runs, ...dispatches]
}

function spansBelow(
  node: RunNode,
  depth: number,
  entries: ReadonlyMap<string, TimelineEntry>,
  sessionId: string,
): readonly Span[] {
  const { runId, status, agent, model, startedAt, durationMs } = node
  const from = Date.parse(startedAt ?? entries.get(runId)?.at ?? '')
  const isOpen = status === 'running' || status === 'waiting' || status === 'queued'
  const label = `${agent?.name ?? runId}${model ? `, ${model}` : ''}: ${status}`
  const own: Span = {
    ...{ label, from, depth, href: linkTo(['sessions', sessionId, 'runs', runId]) },
    to: durationMs === undefined ? (isOpen ? undefined : from) : from + durationMs,
    tone: status === 'completed' ? 'good' : isOpen ? 'going' : 'bad',
  }
  const below = node.children.flatMap((child) => spansBelow(child, depth + 1, entries, sessionId))
  return Number.isNaN(from) ? below : [own, ...below]
}
