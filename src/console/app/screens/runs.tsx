import type { Run } from '../../../model/run.ts'
import { type Page, useRead, withQuery } from '../api.ts'
import { Badge, count, duration, Filter, List, money, queryOf, Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { Screen } from '../shell.tsx'

const FILTERS = ['sessionId', 'status', 'provider', 'model', 'userId', 'tag', 'since', 'until']
const STATUSES = ['queued', 'running', 'waiting', 'completed', 'incomplete', 'failed', 'cancelled', 'expired']

export function RunsScreen() {
  const read = useRead<Page<Run>>(withQuery('agents/runs', queryOf(FILTERS)))
  return (
    <Screen title="Runs">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Filter name="status" label="Status" options={STATUSES} />
        <Filter name="provider" label="Provider" />
        <Filter name="model" label="Model" />
        <Filter name="userId" label="User" />
        <Filter name="tag" label="Tag" />
        <Filter name="sessionId" label="Session" />
      </form>
      <List
        of={read}
        label="Runs"
        empty="No run matches. Agents and applications post their runs."
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
          { head: 'Tokens', cell: ({ counts }) => tokensOf(counts) },
          { head: 'Cost', cell: ({ cost }) => (cost ? money([cost]) : '–') },
          { head: 'Session', cell: ({ sessionId }) => <a href={linkTo(['sessions', sessionId])}>{sessionId}</a> },
        ]}
      />
    </Screen>
  )
}

function tokensOf(counts: Run['counts']): string {
  const { inputTokens, outputTokens } = counts ?? {}
  return inputTokens === undefined && outputTokens === undefined ? '' : count((inputTokens ?? 0) + (outputTokens ?? 0))
}
