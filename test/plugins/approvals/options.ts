import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { approvals } from '../../../src/plugins/approvals/approvals.ts'
import type { ApprovalsOptions } from '../../../src/plugins/approvals/check-options.ts'
import { ANSWER_TEXTS } from '../../../src/plugins/approvals/page/texts/built-in-texts.ts'
import { full, PAGE, TENANT } from '../../options/host-rows.ts'
import {
  FLAG,
  FUNCTION,
  HOLE,
  OBJECT,
  type OptionRow,
  outside,
  PART,
  type PluginOptionRows,
  row,
  TEXT,
  UNSTORABLE,
} from '../../options/option-rows.ts'

const DAY_MS = 86_400_000

const asking: ApprovalsOptions = {
  page: { name: 'Shop', texts: { de: { title: 'x' } }, locale: 'de' },
  events: { ask: { approvers: () => ['ada@example.com'], reminders: [{ afterMs: 60_000, approvers: ['a'] }] } },
}
const events = defineEvents({ ask: { critical: true, channels: { email: { subject: () => 'May I?' } } } })
const sallyport = createSallyport({ ...full, events, plugins: [approvals(asking)] })

function plugin(type: string, bad: OptionRow['bad'], at?: string): OptionRow {
  return row('sallyport/plugins approvals', type, approvals, asking, bad, at === undefined ? {} : { at })
}

const LINE = [...TEXT, '', ' ', 'a\0b', '\ud800', 'x'.repeat(1_001)]
const TAGGED = [...OBJECT, { x_y: {} }, { de: {}, DE: {} }]
const LIST = [...OBJECT.filter((value) => !Array.isArray(value)), HOLE, [7], [null]]
const NAME = { tenant: TENANT, sessionId: UNSTORABLE, approvalId: UNSTORABLE }
const OF = { sessionId: 's1', approvalId: 'a1' }

/** Refused for its options only: there is no such approval. */
const wait = async (options: object): Promise<unknown> =>
  sallyport.approvals.wait(options as typeof OF).catch((cause) => {
    if (Object(cause).code !== 'approval_not_found') throw cause
  })

export const approvalsOptions: PluginOptionRows = {
  rows: [
    plugin('ApprovalsOptions', {
      events: [...OBJECT, { ask: null }, { ask: 'x' }],
      access: FUNCTION,
      answered: FUNCTION,
      page: OBJECT,
      maxWaiting: outside(1, 100_000),
    }),
    plugin(
      'ApprovalEvent',
      {
        approvers: [undefined, ...FUNCTION],
        required: outside(1, 10),
        proof: ['console', '', 7, null],
        reminders: [...LIST, Array.from({ length: 6 }, () => ({ afterMs: 60_000 }))],
        maxExpiresInMs: outside(60_000, 30 * DAY_MS),
        validForMs: outside(60_000, DAY_MS),
      },
      'events.ask',
    ),
    plugin(
      'ApprovalReminder',
      {
        afterMs: [undefined, ...outside(60_000, 30 * DAY_MS)],
        approvers: [...LIST, [], [''], ['a\0b'], Array.from({ length: 51 }, () => 'a')],
      },
      'events.ask.reminders[0]',
    ),
    plugin(
      'AnswerPageOptions',
      {
        name: LINE,
        title: LINE,
        texts: [...TAGGED, { de: 'x' }, { de: null }, { de: undefined }],
        locale: [...TEXT, '', 'x_y', 'sv'],
        css: [...TEXT, '</style>', '</STYLE', 'a\0b', 'x'.repeat(65_537)],
      },
      'page',
    ),
    plugin(
      'sallyport/plugins#AnswerTexts',
      Object.fromEntries(Object.keys(ANSWER_TEXTS.en).map((name) => [name, LINE])),
      'page.texts.de',
    ),
    row('sallyport approvals.get', 'ApprovalName', sallyport.approvals.get, OF, NAME),
    row('sallyport approvals.cancel', 'ApprovalName', wait, OF, NAME),
    row('sallyport approvals.wait', 'ApprovalWaitOptions', wait, OF, {
      ...NAME,
      waitMs: outside(0, 30 * DAY_MS),
      signal: PART,
    }),
    row(
      'sallyport approvals.list',
      'ApprovalListOptions',
      (options: object) => sallyport.approvals.list(options),
      {},
      { ...PAGE, sessionId: UNSTORABLE, approvalId: ['a1', ...UNSTORABLE], status: ['ended!', 7], content: FLAG },
    ),
  ],
  withoutOptions: {
    'sallyport/plugins actionDigest': 'takes an action',
    'sallyport approvals.request': 'takes a body: tested in requests.test',
    'sallyport approvals.answer': 'takes a body: tested in decisions.test',
    'sallyport approvals.consume': 'takes a body: tested in decisions.test',
  },
}
