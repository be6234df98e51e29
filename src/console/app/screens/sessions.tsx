import type { SessionSummary } from '../../../model/session.ts'
import { ListScreen } from '../list.tsx'
import { Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { compact, count, money } from '../words.ts'

export function SessionsScreen() {
  return (
    <ListScreen<SessionSummary>
      title="Sessions"
      path="agents/sessions"
      filters={[
        { name: 'since', label: 'Since (RFC 3339)' },
        { name: 'until', label: 'Before (RFC 3339)' },
      ]}
      empty={
        <>
          No session yet. The first run of an agent creates one: post it to <code>/api/agents/session/run</code>.
        </>
      }
      keyOf={({ sessionId }) => sessionId}
      columns={[
        { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { head: 'Session', cell: ({ sessionId }) => <a href={linkTo(['sessions', sessionId])}>{sessionId}</a> },
        { head: 'Runs', cell: ({ runs }) => <Runs of={runs} /> },
        { head: 'Tokens', cell: ({ tokens }) => compact(tokens) },
        { head: 'Cost', cell: ({ cost }) => money(cost) },
        { head: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
      ]}
    />
  )
}

function Runs({ of }: { readonly of: SessionSummary['runs'] }) {
  const { running = 0, failed = 0 } = of.byStatus
  return (
    <>
      {count(of.total)} {running > 0 && <span class="going">{count(running)} running</span>}{' '}
      {failed > 0 && <span class="bad">{count(failed)} failed</span>}
    </>
  )
}
