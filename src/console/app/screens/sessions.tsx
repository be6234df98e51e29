import type { SessionSummary } from '../../../model/session.ts'
import { type Page, useRead, withQuery } from '../api.ts'
import { count, Filter, List, money, queryOf, Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { Screen } from '../shell.tsx'

export function SessionsScreen() {
  const read = useRead<Page<SessionSummary>>(withQuery('agents/sessions', queryOf(['since', 'until'])))
  return (
    <Screen title="Sessions">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Filter name="since" label="Since (RFC 3339)" />
        <Filter name="until" label="Before (RFC 3339)" />
      </form>
      <List
        of={read}
        label="Sessions"
        empty="No session yet. The first run of an agent creates one."
        keyOf={({ sessionId }) => sessionId}
        columns={[
          { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { head: 'Session', cell: ({ sessionId }) => <a href={linkTo(['sessions', sessionId])}>{sessionId}</a> },
          { head: 'Runs', cell: ({ runs }) => count(runs.total) },
          { head: 'Failed', cell: ({ runs }) => count(runs.byStatus.failed ?? 0) },
          { head: 'Tokens', cell: ({ tokens }) => count(tokens) },
          { head: 'Cost', cell: ({ cost }) => money(cost) },
          { head: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
        ]}
      />
    </Screen>
  )
}
