import { useState } from 'preact/hooks'
import { withQuery } from '../../../console/app/api.ts'
import { Badge, Empty, Explained, Facts, Json, Link, Shown, Time } from '../../../console/app/parts.tsx'
import { usePage } from '../../../console/app/reading.ts'
import type { Redacted } from '../../../console/app/redacted.ts'
import { Screen } from '../../../console/app/screen.tsx'
import { count, textOf } from '../../../console/app/words.ts'
import type { ApprovalView } from '../../../model/approval.ts'
import { AnswerForm } from './answer-form.tsx'
import { explainApproval } from './explain-approval.ts'

/** One approval: the question in full, who has answered, the form of an approver, and what happened. */
export function ApprovalScreen({ sessionId, approvalId }: { readonly sessionId: string; readonly approvalId: string }) {
  // Another parameter reads again at once.
  const [answered, setAnswered] = useState<string>()
  const query = { sessionId, approvalId, content: 'true', limit: answered === undefined ? 1 : 2 }
  const page = usePage<ApprovalView>(withQuery('agents/approvals', query))
  return (
    <Screen title={`Approval ${approvalId}`}>
      {answered !== undefined && <p role="status">{answered}</p>}
      <Shown of={page}>
        {({ items: [approval] }) =>
          approval === undefined ? (
            <Empty>There is no such approval in this session, or it was removed.</Empty>
          ) : (
            <>
              <p class="lead">
                <Badge>{approval.status}</Badge> <Explained of={explainApproval(approval.status)} />
              </p>
              <Question of={approval} />
              {approval.status === 'open' && (
                <AnswerForm of={approval} sessionId={sessionId} approvalId={approvalId} onAnswered={setAnswered} />
              )}
              <Audit of={approval} />
            </>
          )
        }
      </Shown>
    </Screen>
  )
}

interface Of {
  readonly of: Redacted<ApprovalView>
}

function Question({ of }: Of) {
  const { message, action } = of
  return (
    <section>
      <h2>Question</h2>
      {message === undefined ? <p>Its content was erased with its session.</p> : <p class="said">{textOf(message)}</p>}
      <Facts
        of={{
          Event: textOf(of.eventType),
          'Asked by': textOf(of.requester),
          Session: <Link to={['sessions', of.sessionId]} />,
          Run: <Link to={['sessions', of.sessionId, 'runs', of.runId]} />,
          Approvers: of.approvers.map(textOf).join(', '),
          Needed: count(of.required),
          'Answer by': <Time at={of.expiresAt} />,
          'SHA-256 of the action': of.digest !== undefined && <span class="id">{textOf(of.digest)}</span>,
        }}
      />
      {action && <Json of={action} label="Action" />}
    </section>
  )
}

/** The course of an approval, in the order of time. */
function Audit({ of }: Of) {
  const { answers, endedAt, status, consumed } = of
  return (
    <section>
      <h2>What happened</h2>
      <ol>
        <li>
          <Time at={of.createdAt} />: asked by {textOf(of.requester)}
        </li>
        {answers.map(({ user, answer, proof, answeredAt, comment, content }) => (
          <li key={textOf(user)}>
            <Time at={answeredAt} />: {textOf(answer)} by {textOf(user)}, proved by {textOf(proof)}
            {comment !== undefined && <p class="said">{textOf(comment)}</p>}
            {content && <Json of={content} label={`Content of the answer of ${textOf(user)}`} />}
          </li>
        ))}
        {endedAt !== undefined && (
          <li>
            <Time at={endedAt} />: {textOf(status)}
          </li>
        )}
        {consumed && (
          <li>
            <Time at={consumed.consumedAt} />: used by <span class="id">{textOf(consumed.useId)}</span>
          </li>
        )}
      </ol>
    </section>
  )
}
