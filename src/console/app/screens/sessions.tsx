import type { SessionSummary } from '../../../model/session.ts'
import { ListScreen } from '../list.tsx'
import { Link, Time } from '../parts.tsx'
import type { Redacted } from '../redacted.ts'
import { compact, count, money, textOf } from '../words.ts'

export function SessionsScreen() {
  return (
    <ListScreen<SessionSummary>
      title="Sessions"
      path="agents/sessions"
      filters={[
        { name: 'since', label: 'Since', kind: 'instant' },
        { name: 'until', label: 'Before', kind: 'instant' },
      ]}
      empty={
        <>
          No session yet. The first run of an agent creates one: post it to <code>/api/agents/session/run</code>.
        </>
      }
      keyOf={({ sessionId }) => textOf(sessionId)}
      columns={[
        { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { head: 'Session', cell: ({ sessionId }) => <Link to={['sessions', sessionId]} /> },
        { head: 'Runs', cell: ({ runs }) => <Runs of={runs} /> },
        { head: 'Tokens', cell: ({ tokens }) => compact(tokens) },
        { head: 'Cost', cell: ({ cost }) => money(cost) },
        { head: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
      ]}
    />
  )
}

function Runs({ of }: { readonly of: Redacted<SessionSummary['runs']> }) {
  const { running = 0, failed = 0 } = of.byStatus
  return (
    <>
      {count(of.total)} {running !== 0 && <span class="going">{count(running)} running</span>}{' '}
      {failed !== 0 && <span class="bad">{count(failed)} failed</span>}
    </>
  )
}
