import type { Run, RunStatus } from '../../../model/run.ts'
import { useAdditions } from '../additions.ts'
import { type Filter, ListScreen } from '../list.tsx'
import { Badge, Link, Time } from '../parts.tsx'
import { place } from '../router.ts'
import { compact, duration, joined, money, tokensOf } from '../words.ts'

const STATUSES: readonly RunStatus[] = [
  'queued',
  'running',
  'waiting',
  'completed',
  'incomplete',
  'failed',
  'cancelled',
  'expired',
]

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', options: STATUSES },
  { name: 'provider', label: 'Provider' },
  { name: 'model', label: 'Model' },
  { name: 'userId', label: 'User' },
  { name: 'tag', label: 'Tag' },
  { name: 'sessionId', label: 'Session' },
  { name: 'since', label: 'Since', kind: 'instant' },
  { name: 'until', label: 'Before', kind: 'instant' },
]

export function RunsScreen() {
  const userId = place.value.query.get('userId') ?? undefined
  const additions = useAdditions({ userId })
  return (
    <ListScreen<Run>
      title="Runs"
      path="agents/runs"
      filters={FILTERS}
      empty={
        <>
          No run yet. An agent or an application posts its runs to <code>/api/agents/session/run</code>.
        </>
      }
      keyOf={({ sessionId, runId }) => joined(sessionId, runId)}
      below={additions.map(({ shown }) => shown)}
      columns={[
        { head: 'Recorded', cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          head: 'Run',
          cell: ({ sessionId, runId }) => <Link to={['sessions', sessionId, 'runs', runId]} />,
        },
        { head: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
        { head: 'Model', cell: ({ provider, model }) => joined(provider, model) },
        {
          head: 'Took',
          cell: ({ timings }) => duration(timings?.durationMs),
        },
        { head: 'Tokens', cell: ({ counts }) => compact(tokensOf(counts)) },
        { head: 'Cost', cell: ({ cost }) => (cost ? money([cost]) : '–') },
        { head: 'Session', cell: ({ sessionId }) => <Link to={['sessions', sessionId]} /> },
      ]}
    />
  )
}
