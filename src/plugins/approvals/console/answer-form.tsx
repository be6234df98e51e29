import './approvals.css'
import { useState } from 'preact/hooks'
import { Action } from '../../../console/app/action.tsx'
import { post } from '../../../console/app/api.ts'
import { host } from '../../../console/app/host.ts'
import type { Redacted } from '../../../console/app/redacted.ts'
import { textOfProblem } from '../../../console/app/sentences/problem.ts'
import type { AnswerContent, AnswerSchema, ApprovalView } from '../../../model/approval.ts'
import type { ApprovalResult } from '../../../model/approval-calls.ts'
import { readValue, writeValue } from '../../../pages/form-values.ts'
import { FieldControl } from './field-control.tsx'

/** The form of an approver who uses the console, which answers for its user alone. */
export function AnswerForm({
  of,
  sessionId,
  approvalId,
  onAnswered,
}: {
  readonly of: Redacted<ApprovalView>
  readonly sessionId: string
  readonly approvalId: string
  readonly onAnswered: (said: string) => void
}) {
  const [comment, setComment] = useState('')
  const [texts, setTexts] = useState<FieldTexts>({})
  // A schema is not redacted as long as its members are what they were.
  const schema = of.schema as AnswerSchema | undefined
  const whyNot = whyNotAnswer(of)
  if (!host.canOperate) return null
  const send = (answer: 'accept' | 'decline') => async (): Promise<string> => {
    const content = schema && answer === 'accept' ? { content: contentOf(texts, schema) } : {}
    const said = comment.trim() === '' ? {} : { comment: comment.trim() }
    const path = `agents/session/approval/${encodeURIComponent(approvalId)}/answer`
    const { problem } = await post<ApprovalResult>(path, { sessionId, answer, ...said, ...content })
    if (problem) return textOfProblem(problem)
    onAnswered(answer === 'accept' ? 'You accepted.' : 'You declined.')
    return ''
  }
  return (
    <section>
      <h2>Your answer</h2>
      <form class="filters card" onSubmit={(event) => event.preventDefault()}>
        {Object.entries(schema?.properties ?? {}).map(([name, field]) => (
          <FieldControl
            key={name}
            name={name}
            field={field}
            values={texts[name] ?? writeValue(field, field.default)}
            onChange={(values) => setTexts({ ...texts, [name]: values })}
          />
        ))}
        <label>
          Comment
          <input value={comment} maxLength={1_000} onInput={(event) => setComment(event.currentTarget.value)} />
        </label>
        <Action label="Accept" confirm="Let the agent do it?" whyNot={whyNot} run={send('accept')} />
        <Action label="Decline" confirm="Forbid it?" whyNot={whyNot} run={send('decline')} />
      </form>
    </section>
  )
}

/** Texts of the controls, by the names of their fields. */
type FieldTexts = Readonly<Record<string, readonly string[]>>

/** The content of an acceptance. The server checks it, and names the field of each fault. */
function contentOf(texts: FieldTexts, { properties, required = [] }: AnswerSchema): AnswerContent {
  const values = Object.entries(properties).map(([name, field]) => {
    const given = texts[name] ?? writeValue(field, field.default)
    return [name, readValue(field, given, required.includes(name))] as const
  })
  return Object.fromEntries(values.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

function whyNotAnswer({ approvers, answers }: Redacted<ApprovalView>): string | undefined {
  if (host.user === '') return 'The console does not know who you are: its access() must name the user.'
  if (answers.some(({ user }) => user === host.user)) return 'You have answered.'
  return approvers.includes(host.user) ? undefined : `You are ${host.user}, who is not asked.`
}
