import { ListScreen } from '../../../console/app/list.tsx'
import { Badge, Explained, Link, Time } from '../../../console/app/parts.tsx'
import { count, joined, textOf } from '../../../console/app/words.ts'
import type { ApprovalView } from '../../../model/approval.ts'
import { explainApproval } from './explain-approval.ts'

export function ApprovalsScreen() {
  return (
    <ListScreen<ApprovalView>
      title="Approvals"
      path="agents/approvals"
      filters={[
        { name: 'status', label: 'Status', options: ['open', 'ended'] },
        { name: 'sessionId', label: 'Session' },
      ]}
      empty="No agent has asked for approval yet. Questions appear here when one posts to /api/agents/session/approval."
      keyOf={({ sessionId, approvalId }) => joined(sessionId, approvalId)}
      columns={[
        { head: 'Asked', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { head: 'Event', cell: ({ eventType }) => textOf(eventType) },
        {
          head: 'Approval',
          cell: ({ sessionId, approvalId }) => <Link to={['approvals', sessionId, approvalId]} />,
        },
        {
          head: 'Status',
          cell: ({ status }) => (
            <>
              <Badge>{status}</Badge> <Explained of={explainApproval(status)} />
            </>
          ),
        },
        { head: 'Answers', cell: ({ answers, required }) => `${count(answers.length)} of ${count(required)}` },
        { head: 'Until', cell: ({ expiresAt, endedAt }) => <Time at={endedAt === undefined ? expiresAt : endedAt} /> },
        { head: 'Session', cell: ({ sessionId }) => <Link to={['sessions', sessionId]} /> },
      ]}
    >
      <p class="intro">What agents ask people. Those that are open come first.</p>
    </ListScreen>
  )
}
