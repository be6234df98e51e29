import type { ApprovalAnswer, ApprovalView } from '../../../../src/model/approval.ts'
import { type AnswerPage, answerPages } from '../../../../src/plugins/approvals/page/answer-page.ts'
import type { AnswerPageOptions } from '../../../../src/plugins/approvals/page/answer-page-options.ts'
import type { AnswerView, GivenForm } from '../../../../src/plugins/approvals/page/answer-view.ts'

/** An open approval of an action, with a field of each kind. */
export function approvalOf(parts: Partial<ApprovalView> = {}): ApprovalView {
  return {
    ...{ approvalId: 'apr_1', sessionId: 'ses_1', runId: 'run_1', eventType: 'refund.approval', status: 'open' },
    ...{ requester: 'support-agent', approvers: ['jane', 'joe'], required: 1 },
    digest: 'a'.repeat(64),
    message: 'May I refund order 1001?\nThe parcel was lost.',
    action: { name: 'refund', args: { order: 1001, note: 'lost', lines: [{ sku: 'a', cents: 4200 }] } },
    schema: {
      type: 'object',
      properties: {
        amount: { type: 'number', title: 'Amount in euros', minimum: 0, maximum: 100, default: 42 },
        parcels: { type: 'integer', minimum: 0.5, maximum: 9.5 },
        reason: { type: 'string', description: 'For the ledger', minLength: 3, maxLength: 80 },
        details: { type: 'string' },
        mail: { type: 'string', format: 'email' },
        page: { type: 'string', format: 'uri' },
        day: { type: 'string', format: 'date' },
        until: { type: 'string', format: 'date-time', default: '2026-12-01T10:30:00+02:00' },
        urgent: { type: 'boolean' },
        speed: { type: 'string', enum: ['slow', 'fast'], default: 'fast' },
        how: { type: 'array', items: { anyOf: [{ const: 'm', title: 'By mail' }] }, minItems: 1, maxItems: 1 },
      },
      required: ['amount', 'reason', 'urgent', 'how'],
    },
    answers: [],
    ...{ createdAt: '2026-11-25T08:00:00.000Z', expiresAt: '2026-12-02T08:00:00.000Z' },
    ...parts,
  }
}

export const ACCEPTED: ApprovalAnswer = {
  user: 'jane',
  answer: 'accept',
  proof: 'link',
  answeredAt: '2026-11-26T09:00:00.000Z',
} as const
export const DECLINED: ApprovalAnswer = { ...ACCEPTED, user: 'joe', answer: 'decline', comment: 'Too\nmuch' }

const ended = { endedAt: '2026-11-26T09:00:00.000Z' }
const quorum = { required: 2, approvers: ['jane', 'joe', 'jim'], answers: [ACCEPTED] }
const problems = [
  { field: 'content.amount', code: 'type', detail: 'expected a number' },
  { field: 'content.how', code: 'too_short', detail: 'must be at least 1 of the choices' },
  { field: 'comment', code: 'too_long', detail: 'must have at most 1000 characters' },
  { field: 'answer', code: 'not_allowed', detail: 'must be accept or decline' },
  { field: 'content.other', code: 'not_allowed', detail: 'is no field of the schema' },
] as const
export const GIVEN: GivenForm = {
  ...{ answer: ['accept'], comment: ['\nOn two\nlines'] },
  ...{ 'content.amount': ['1,5'], 'content.reason': ['a\nb'], 'content.day': ['31.12.2026'] },
  ...{ 'content.until': ['2026-12-01T10:30:05'], 'content.urgent': ['false'], 'content.speed': [''] },
}

/** An action of 32 KiB: a long word, a long line and a long name. */
const LONG = {
  name: 'x'.repeat(200),
  args: { word: 'w'.repeat(2_000), line: 'word '.repeat(6_000), ['k'.repeat(300)]: 1 },
}

const of = (parts: Partial<ApprovalView> = {}, user = 'jane') => ({ approval: approvalOf(parts), user })

/** Every state of the page, by a name. */
export const STATES: Readonly<Record<string, AnswerView>> = {
  question: { show: 'question', ...of() },
  'question without content': { show: 'question', ...of({ schema: undefined as never, action: undefined as never }) },
  'question with problems': { show: 'question', ...of(), problems, given: GIVEN },
  'question of a long action': { show: 'question', ...of({ message: 'm'.repeat(4_000), action: LONG }) },
  'question of several approvers': { show: 'question', ...of(quorum, 'joe') },
  'answered: accepted': { show: 'answered', ...of({ ...ended, status: 'accepted', answers: [ACCEPTED] }) },
  'answered: declined': { show: 'answered', ...of({ ...ended, status: 'declined', answers: [DECLINED] }, 'joe') },
  'answered, and waiting': { show: 'answered', ...of(quorum) },
  'late after an answer': { show: 'late', ...of({ ...ended, status: 'declined', answers: [DECLINED] }) },
  waiting: { show: 'status', ...of(quorum) },
  accepted: { show: 'status', ...of({ ...ended, status: 'accepted', answers: [ACCEPTED] }, 'joe') },
  declined: { show: 'status', ...of({ ...ended, status: 'declined', answers: [DECLINED] }) },
  expired: { show: 'status', ...of({ ...ended, status: 'expired' }) },
  cancelled: { show: 'status', ...of({ ...ended, status: 'cancelled' }) },
  consumed: {
    show: 'status',
    ...of({
      ...{ ...ended, status: 'accepted', answers: [ACCEPTED] },
      consumed: { useId: 'u1', consumedAt: '2026-11-27T10:00:00.000Z' },
    }),
  },
  erased: {
    show: 'status',
    ...of({ ...ended, status: 'cancelled', message: undefined as never, action: undefined as never }),
  },
  'not found': { show: 'not_found' },
  unavailable: { show: 'unavailable' },
  'unavailable with a form': { show: 'unavailable', given: GIVEN },
}

export function pageOf(view: AnswerView | undefined, language = 'en', options: AnswerPageOptions = {}): AnswerPage {
  if (view === undefined) throw new Error('no such state')
  return answerPages(options).render(view, language)
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

export function unescaped(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => NAMED[name] ?? '')
}

const CONTROL = /<input([^>]*)>|<textarea([^>]*)>\n([^<]*)<\/textarea>/g

/** The form that a browser sends for a page if nobody changes it, without a button. */
export function formIn(page: string): URLSearchParams {
  const form = new URLSearchParams()
  for (const [, input, area = '', text = ''] of page.matchAll(CONTROL)) {
    const attributes = input ?? area
    const read = (name: string): string => unescaped(new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1] ?? '')
    const isBox = read('type') === 'radio' || read('type') === 'checkbox'
    const value = input === undefined ? unescaped(text) : read('value')
    if (!isBox || / checked/.test(attributes)) form.append(read('name'), value.replaceAll('\n', '\r\n'))
  }
  return form
}
