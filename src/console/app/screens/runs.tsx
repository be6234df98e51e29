import type { Run, RunStatus } from '../../../model/run.ts'
import { type Filter, ListScreen } from '../list.tsx'
import { Badge, Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { compact, duration, money, tokensOf } from '../words.ts'

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
  { name: 'since', label: 'Since (RFC 3339)' },
  { name: 'until', label: 'Before (RFC 3339)' },
]

export function RunsScreen() {
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
      keyOf={({ sessionId, runId }) => `${sessionId} ${runId}`}
      columns={[
        { head: 'Recorded', cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          head: 'Run',
          cell: ({ sessionId, runId }) => <a href={linkTo(['sessions', sessionId, 'runs', runId])}>{runId}</a>,
        },
        { head: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
        { head: 'Model', cell: ({ provider, model }) => [provider, model].filter(Boolean).join(' ') },
        {
          head: 'Took',
          cell: ({ timings }) => (timings?.durationMs === undefined ? '' : duration(timings.durationMs)),
        },
        { head: 'Tokens', cell: ({ counts }) => tokensText(counts) },
        { head: 'Cost', cell: ({ cost }) => (cost ? money([cost]) : '–') },
        { head: 'Session', cell: ({ sessionId }) => <a href={linkTo(['sessions', sessionId])}>{sessionId}</a> },
      ]}
    />
  )
}

function tokensText(counts: Run['counts']): string {
  const tokens = tokensOf(counts)
  return tokens === undefined ? '' : compact(tokens)
}
