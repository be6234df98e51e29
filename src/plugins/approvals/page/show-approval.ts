import { canonicalJson } from '../../../core/json/canonical-json.ts'
import type { ApprovalAction, ApprovalAnswer, ApprovalView } from '../../../model/approval.ts'
import type { JsonValue } from '../../../model/json.ts'
import { filled, type Html, html } from '../../../pages/html.ts'
import type { AnswerTexts } from './texts/answer-texts.ts'
import { isolated, visible } from './visible-text.ts'

/** Writes an instant (RFC 3339) as a `<time>` element in the language of the page, in UTC. */
export type ShowTime = (instant: string) => Html

/**
 * Message, action and answers of an approval, complete. Without those that were erased.
 *
 * @param user Who may answer now. `undefined`: nobody.
 */
export function approvalParts(
  approval: ApprovalView,
  user: string | undefined,
  texts: AnswerTexts,
  time: ShowTime,
): Html {
  const { message, action } = approval
  const said = message === undefined ? undefined : html`<p class="text message" dir="auto">${visible(message)}</p>\n`
  return html`${said}${facts(approval, user, texts, time)}
${action && actionParts(action, texts)}${digestOf(approval, texts)}${answersOf(approval, texts, time)}`
}

function facts(
  { requester, sessionId, runId, expiresAt }: ApprovalView,
  user: string | undefined,
  texts: AnswerTexts,
  time: ShowTime,
): Html {
  return terms([
    [texts.requester, isolated(requester)],
    [texts.session, html`<code>${isolated(sessionId)}</code>`],
    [texts.run, html`<code>${isolated(runId)}</code>`],
    [texts.until, time(expiresAt)],
    ...(user === undefined ? [] : [[texts.user, isolated(user)] as const]),
  ])
}

function terms(rows: readonly (readonly [string, Html])[]): Html {
  return html`<dl>
${rows.map(([name, value]) => html`<dt>${name}</dt>\n<dd>${value}</dd>\n`)}</dl>`
}

/** Name and arguments, then the text of which the digest is taken. */
function actionParts({ name, args }: ApprovalAction, texts: AnswerTexts): Html {
  const members = Object.entries(args)
  const rows = members.map(([key, value]) => {
    return html`<tr><th scope="row" dir="auto">${visible(key)}</th><td dir="auto">${shownValue(value)}</td></tr>\n`
  })
  const table = html`<table>
<thead><tr><th scope="col">${texts.argument}</th><th scope="col">${texts.value}</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`
  return html`<h2>${texts.action}</h2>
<p><code>${isolated(name)}</code></p>
${members.length === 0 ? html`<p>${texts.noArguments}</p>` : table}
<h2>${texts.json}</h2>
<pre dir="ltr">${visible(canonicalJson({ name, args }))}</pre>
`
}

/** Texts stand as they are; all other values as JSON. */
function shownValue(value: JsonValue): Html {
  const isText = typeof value === 'string' && value !== ''
  return isText ? visible(value) : html`<code>${visible(canonicalJson(value))}</code>`
}

function digestOf({ digest }: ApprovalView, texts: AnswerTexts): Html | undefined {
  return digest === undefined ? undefined : html`${terms([[texts.digest, html`<code>${visible(digest)}</code>`]])}\n`
}

function answersOf({ answers, approvers, status, required }: ApprovalView, texts: AnswerTexts, time: ShowTime): Html {
  const accepted = answers.filter(({ answer }) => answer === 'accept').length
  const quorum = required > 1 ? filled(texts.quorum, { count: `${accepted}`, required: `${required}` }) : undefined
  const pending = approvers.filter((approver) => answers.every(({ user }) => user !== approver))
  const isPending = required > 1 && status === 'open' && pending.length > 0
  const list = html`<h2>${texts.answers}</h2>
<ul>
${answers.map((answer) => html`<li>${answerOf(answer, texts, time)}</li>\n`)}</ul>
`
  const names = pending.map((name, index) => html`${index > 0 ? ', ' : undefined}${isolated(name)}`)
  return html`${answers.length > 0 ? list : undefined}${quorum && html`<p>${quorum}</p>\n`}${
    isPending ? html`${terms([[texts.pending, html`${names}`]])}\n` : undefined
  }`
}

function answerOf({ user, answer, answeredAt, comment }: ApprovalAnswer, texts: AnswerTexts, time: ShowTime): Html {
  const text = answer === 'accept' ? texts.userAccepted : texts.userDeclined
  const said = comment === undefined ? undefined : html`<p class="text" dir="auto">${visible(comment)}</p>`
  return html`${filled(text, { user: isolated(user) })}, ${time(answeredAt)}${said}`
}
