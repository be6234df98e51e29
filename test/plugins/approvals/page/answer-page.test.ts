import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../../src/core/json/canonical-json.ts'
import type { ApprovalView } from '../../../../src/model/approval.ts'
import type { JsonObject } from '../../../../src/model/json.ts'
import { answerPages } from '../../../../src/plugins/approvals/page/answer-page.ts'
import { ANSWER_STYLE } from '../../../../src/plugins/approvals/page/answer-style.ts'
import { ANSWER_TEXTS } from '../../../../src/plugins/approvals/page/texts/built-in-texts.ts'
import { colourSchemes, contrast } from '../../../pages/contrast.ts'
import { htmlFaults } from '../../../pages/html-faults.ts'
import { fc } from '../../../support/properties.ts'
import { approvalOf, DECLINED, formIn, GIVEN, pageOf, STATES, unescaped } from './approvals.ts'

const LANGUAGES = Object.keys(ANSWER_TEXTS)
const NAMES = Object.keys(STATES)

const state = (name: string, language = 'en'): string => pageOf(STATES[name], language).html
const question = (parts: Partial<ApprovalView> = {}): string =>
  pageOf({ show: 'question', approval: approvalOf(parts), user: 'jane' }).html
/** The text of a page, without tags. */
const textOf = (html: string): string =>
  unescaped(html.replace(/<style>[\s\S]*<\/style>/, '').replaceAll(/<[^>]*>/g, ''))

describe('every state in every language', () => {
  it.each(LANGUAGES.flatMap((language) => NAMES.map((name) => [language, name] as const)))(
    'The page in %s, %s, is well-formed, with one heading, no script, no outside resource and no open placeholder',
    (language, name) => {
      const { html } = pageOf(STATES[name], language, { name: 'Shop & Söhne' })
      expect(htmlFaults(html)).toEqual([])
      expect(html.match(/<h1>[^<]+<\/h1>/g)).toHaveLength(1)
      expect(html).toContain(`<html lang="${language}" dir="ltr">`)
      expect(html).toMatch(/<title>[^<]+ – Shop &amp; Söhne<\/title>/)
      expect(html).not.toMatch(/<script|<link|<img|javascript:|@import|url\(|style=|\son[a-z]+=|undefined|\{\w+\}/i)
      const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
      expect(new Set(ids).size).toBe(ids.length)
      const targets = [...html.matchAll(/ (?:for|aria-describedby)="([^"]*)"| href="#([^"]*)"/g)]
      expect(
        targets.flatMap(([, one, other = '']) => (one ?? other).split(' ')).filter((id) => !ids.includes(id)),
      ).toEqual([])
    },
  )

  it('Every language has every text, with the same placeholders', () => {
    const shape = (texts: object) =>
      Object.entries(texts).map(([name, text]) => [name, [...String(text).matchAll(/\{\w+\}/g)].map(String).sort()])
    for (const texts of Object.values(ANSWER_TEXTS)) {
      expect(shape(texts)).toEqual(shape(ANSWER_TEXTS.en))
      expect(Object.values(texts).filter((text) => text.trim() !== text || text === '')).toEqual([])
    }
  })

  it('No two languages share a sentence', () => {
    const all = Object.values(ANSWER_TEXTS).flatMap((texts) =>
      Object.values(texts).filter((text) => text.endsWith('.')),
    )
    expect(all.filter((text, index) => all.indexOf(text) < index)).toEqual([])
  })

  it('Own texts, a title, a language and a style are used', () => {
    const options = { texts: { pl: { accept: 'Tak & <b>' } }, locale: 'pl', title: 'Decide', css: 'h1{color:teal}' }
    const { html, language } = pageOf(STATES.question, 'ja', options)
    expect(language).toBe('pl')
    expect(html).toContain('>Tak &amp; &lt;b&gt;</button>')
    expect(html).toContain('<h1>Decide</h1>')
    expect(html).toContain('\nh1{color:teal}</style>')
    expect(answerPages(options).style.endsWith('h1{color:teal}')).toBe(true)
  })
})

describe('what each state says', () => {
  it.each([
    ['answered: accepted', 'You accepted. Thank you.', 'jane accepted'],
    ['answered: declined', 'You declined. Thank you.', 'joe declined'],
    ['answered, and waiting', 'You accepted. Thank you.', '1 of 2 have accepted.'],
    ['answered, and waiting', 'Further approvers have yet to answer.', 'Not answered yet\njoe, jim'],
    ['late after an answer', 'Your answer was not recorded', 'joe declined'],
    ['waiting', 'Further approvers have yet to answer.', '1 of 2 have accepted.'],
    ['accepted', 'This request was accepted. November 26, 2026', 'jane accepted, November 26, 2026'],
    ['declined', 'This request was declined. November 26, 2026', 'Too\nmuch'],
    ['expired', 'This request has expired', 'refund'],
    ['cancelled', 'The requester withdrew this request.', 'refund'],
    ['consumed', 'The accepted action was used. November 27, 2026', 'jane accepted'],
    ['not found', 'There is no request at this address.', ''],
    ['unavailable', 'That did not work.', ''],
    ['question of several approvers', '1 of 2 have accepted.', 'jane accepted'],
  ])('%s', (name, ...texts) => {
    for (const text of texts) expect(textOf(state(name))).toContain(text)
  })

  it('Only the question has the form, and another state says nothing of an answer that was not given', () => {
    const withForm = NAMES.filter((name) => state(name).includes('name="answer" value="accept"'))
    expect(withForm.filter((name) => !name.startsWith('unavailable'))).toEqual(
      NAMES.filter((name) => name.startsWith('question')),
    )
    expect(textOf(state('accepted'))).not.toMatch(/You (?:accepted|declined)/)
    const unanswered = pageOf({ show: 'answered', approval: approvalOf(), user: 'jane' }).html
    expect(textOf(unanswered)).not.toContain('You accepted')
  })

  it('If the store is unavailable, the same form can be sent again', () => {
    const form = formIn(state('unavailable with a form'))
    expect([...new Set(form.keys())]).toEqual(Object.keys(GIVEN))
    for (const [name, values] of Object.entries(GIVEN))
      expect(form.getAll(name).map((value) => value.replaceAll('\r\n', '\n'))).toEqual(values)
    expect(state('unavailable')).not.toContain('<form')
  })
})

describe('the question', () => {
  it('The page shows message, requester, session, run, end of the time and the whole action', () => {
    const html = question()
    expect(html).toContain('May I refund order 1001?\nThe parcel was lost.')
    for (const text of ['support-agent', 'ses_1', 'run_1', 'jane', 'a'.repeat(64)]) expect(textOf(html)).toContain(text)
    expect(html).toContain('<time datetime="2026-12-02T08:00:00.000Z">')
    expect(textOf(html)).toMatch(/December 2, 2026 at 08:00\sAM UTC/)
    expect(html).toContain('<code><bdi>refund</bdi></code>')
    expect(html).toContain('<tr><th scope="row" dir="auto">note</th><td dir="auto">lost</td></tr>')
    expect(textOf(html)).toContain('[{"cents":4200,"sku":"a"}]')
    const pre = /<pre[^>]*>([^<]*)<\/pre>/.exec(html)?.[1] ?? ''
    expect(unescaped(pre)).toBe(canonicalJson(approvalOf().action))
  })

  it('An action of 32 KiB is there to its end, and an action without arguments says so', () => {
    const args: JsonObject = {
      ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`k${at}`, 'x'.repeat(90)])),
      end: 'last',
    }
    const html = question({ action: { name: 'import', args } })
    expect(unescaped(/<pre[^>]*>([^<]*)<\/pre>/.exec(html)?.[1] ?? '')).toBe(canonicalJson({ name: 'import', args }))
    expect(html.match(/<tr><th scope="row"/g)).toHaveLength(301)
    const long = 'y'.repeat(32_768)
    expect(question({ action: { name: 'a', args: { long } } }).split(long)).toHaveLength(3)
    expect(textOf(question({ action: { name: 'stop', args: {} } }))).toContain('No arguments.')
  })

  it('Values that differ only in their type look different', () => {
    const html = question({ action: { name: 'a', args: { one: 1, text: '1', empty: '', none: null } } })
    const values = [...html.matchAll(/<td dir="auto">(.*?)<\/td>/g)].map(([, value]) => value)
    expect(values).toEqual(['<code>1</code>', '1', '<code>&quot;&quot;</code>', '<code>null</code>'])
  })

  it('Fields have the controls, bounds, labels and descriptions of the schema', () => {
    const html = question()
    for (const tag of [
      '<label for="content.amount"><bdi>Amount in euros</bdi> <span class="need">(required)</span></label>',
      '<input type="number" id="content.amount" name="content.amount" required min="0" max="100" step="any" value="42">',
      '<input type="number" id="content.parcels" name="content.parcels" min="1" max="9" step="1" value="">',
      '<p class="hint" id="content.reason.hint" dir="auto">For the ledger</p>',
      '<input type="text" id="content.reason" name="content.reason" aria-describedby="content.reason.hint" required minlength="3" maxlength="80" dir="auto" value="">',
      '<textarea id="content.details" name="content.details" maxlength="4000" dir="auto">\n</textarea>',
      '<input type="email" id="content.mail" name="content.mail" maxlength="4000" value="">',
      '<input type="url" id="content.page" name="content.page" maxlength="4000" value="">',
      '<input type="date" id="content.day" name="content.day" max="9999-12-31" step="any" value="">',
      '<input type="datetime-local" id="content.until" name="content.until" aria-describedby="content.until.hint" max="9999-12-31T23:59" step="any" value="2026-12-01T08:30">',
      '<p class="hint" id="content.until.hint" dir="auto">The time is in UTC.</p>',
      '<input type="radio" name="content.urgent" value="true" required> <bdi>Yes</bdi>',
      '<input type="radio" name="content.speed" value="fast" checked> <bdi>fast</bdi>',
      '<input type="radio" name="content.speed" value=""> <bdi>No answer</bdi>',
      '<input type="checkbox" name="content.how" value="m"> <bdi>By mail</bdi>',
      '<legend><bdi>urgent</bdi> <span class="need">(required)</span></legend>',
      '<textarea id="comment" name="comment" aria-describedby="comment.hint" maxlength="1000" dir="auto">\n</textarea>',
    ])
      expect(html).toContain(tag)
  })

  it('A browser sends a decline of empty required fields, and nothing when the Enter key is pressed in a field', () => {
    const buttons = [...question().matchAll(/<button[^>]*>/g)].map(([tag]) => tag)
    expect(buttons).toEqual([
      '<button type="submit" disabled hidden>',
      '<button type="submit" name="answer" value="accept">',
      '<button type="submit" name="answer" value="decline" class="second" formnovalidate>',
    ])
    expect(question()).toContain('<form method="post">')
  })

  it('A form with problems names each of them, at its field and above, and keeps what was typed', () => {
    const html = state('question with problems')
    const text = textOf(html)
    for (const one of [
      'Amount in euros – Enter a number.',
      'how – Choose at least 1.',
      'Comment – Enter at most 1000 characters.',
      'Choose whether to accept or to decline.',
      'other – This cannot be accepted.',
    ])
      expect(text).toContain(one)
    expect(html).toContain('<p class="problem" id="content.amount.problem">Enter a number.</p>')
    expect(html).toMatch(
      /<input type="text" inputmode="decimal" id="content.amount"[^>]* aria-invalid="true" required value="1,5">/,
    )
    const form = formIn(html)
    for (const [name, values] of Object.entries(GIVEN).filter(([name]) => name !== 'answer'))
      expect(form.getAll(name).map((value) => value.replaceAll('\r\n', '\n'))).toEqual(values)
  })

  it.each([
    ['content.amount', 'out_of_range', 'Enter a number from 0 to 100.'],
    ['content.parcels', 'type', 'Enter a whole number.'],
    ['content.reason', 'required', 'Please fill this in.'],
    ['content.reason', 'too_short', 'Enter at least 3 characters.'],
    ['content.reason', 'too_long', 'Enter at most 80 characters.'],
    ['content.reason', 'nul_character', 'This cannot be accepted.'],
    ['content.mail', 'format', 'Enter an e-mail address.'],
    ['content.page', 'format', 'Enter a complete address'],
    ['content.day', 'format', 'Enter a day of the calendar'],
    ['content.until', 'format', 'Enter a date and a time.'],
    ['content.speed', 'not_allowed', 'Choose from the list.'],
    ['content.how', 'too_many', 'Choose at most 1.'],
    ['content.how', 'not_allowed', 'Choose from the list.'],
    ['comment', 'invalid', 'This cannot be accepted.'],
  ] as const)('The problem of %s, %s, is: %s', (field, code, text) => {
    const view = { show: 'question', approval: approvalOf(), user: 'jane', given: {} } as const
    expect(textOf(pageOf({ ...view, problems: [{ field, code, detail: '' }] }).html)).toContain(text)
  })
})

describe('hostile texts', () => {
  const EVIL = `</style></title></pre></textarea><script>alert("1")</script><img src=x onerror='a'>&amp;{user}$&\u202e\u0007`

  const evilOf = (text: string): Partial<ApprovalView> => ({
    ...{ message: text, requester: text, sessionId: text, runId: text, approvers: [text, 'x'], required: 2 },
    action: { name: text, args: { [text]: text, nested: { [text]: [text] } } },
    schema: {
      type: 'object',
      properties: {
        a: { type: 'string', title: text, description: text, default: text },
        b: { type: 'string', oneOf: [{ const: text, title: text }], default: text },
        c: { type: 'array', items: { type: 'string', enum: [text] } },
      },
    },
    answers: [{ ...DECLINED, user: text, comment: text }],
  })

  it.each(['question', 'answered', 'late', 'status'] as const)('Markup is text in the state %s', (show) => {
    const given = { 'content.a': [EVIL], 'content.b': [EVIL], comment: [EVIL], answer: [EVIL] }
    const view = {
      show,
      approval: approvalOf({ ...evilOf(EVIL), status: show === 'question' ? 'open' : 'declined' }),
      user: EVIL,
    }
    const again =
      show === 'question' ? { given, problems: [{ field: `content.${EVIL}`, code: 'not_allowed', detail: EVIL }] } : {}
    for (const parts of [{}, again]) {
      const { html } = pageOf({ ...view, ...parts } as never, 'en', {
        name: EVIL,
        title: EVIL,
        texts: { en: { user: EVIL } },
      })
      expect(htmlFaults(html)).toEqual([])
      expect(html).not.toMatch(/<script|<img/)
      expect(html.match(/<\/style>/g)).toHaveLength(1)
    }
    expect(htmlFaults(pageOf({ show: 'unavailable', given }).html)).toEqual([])
  })

  it('Characters that turn or hide text are shown as code points wherever the approval has them', () => {
    const { html } = pageOf({ show: 'question', approval: approvalOf(evilOf('a\u202eb\u2066c\u0007')), user: 'x' })
    const shown = html.replaceAll(/ value="[^"]*"|<textarea[\s\S]*?<\/textarea>/g, '')
    for (const hidden of ['\u202e', '\u2066', '\u0007']) expect(shown).not.toContain(hidden)
    expect(html.split('<span class="mark">U+202E</span>').length).toBeGreaterThan(12)
    // JSON itself escapes U+0007.
    expect(/<pre[^>]*>[\s\S]*<\/pre>/.exec(html)?.[0]).toContain(String.raw`U+2066</span>c\u0007`)
  })

  it('Any text in any place gives a well-formed page', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
        expect(htmlFaults(pageOf({ show: 'question', approval: approvalOf(evilOf(text)), user: text }).html)).toEqual(
          [],
        )
      }),
    )
  })
})

describe('the style', () => {
  it.each([0, 1])('Its colours have enough contrast in scheme %i', (scheme) => {
    const { style } = answerPages()
    const colours = Object.assign({}, colourSchemes(style)[scheme], colourSchemes(ANSWER_STYLE)[scheme])
    for (const [one, other, ratio] of [
      ['problem', 'back', 4.5],
      ['text', 'mark', 4.5],
      ['line', 'back', 3],
    ] as const)
      expect(contrast(colours[one] ?? '', colours[other] ?? '')).toBeGreaterThanOrEqual(ratio)
  })

  it('The style of the answer page is the one of the page, for the policy', () => {
    const { style } = answerPages({ css: 'a{}\r\nb{}' })
    const hash = (text: string) => createHash('sha256').update(text).digest('hex')
    const html = pageOf(STATES.question, 'en', { css: 'a{}\r\nb{}' }).html
    expect(hash(/<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? '')).toBe(hash(style))
  })
})
