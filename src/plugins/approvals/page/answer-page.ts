import type { ApprovalView } from '../../../model/approval.ts'
import { filled, type Html, html } from '../../../pages/html.ts'
import { htmlPage } from '../../../pages/html-page.ts'
import { pageLanguages } from '../../../pages/page-languages.ts'
import { PAGE_STYLE, styleOf } from '../../../pages/page-style.ts'
import { answerForm, sameForm } from './answer-form.ts'
import type { AnswerPageOptions } from './answer-page-options.ts'
import { ANSWER_STYLE } from './answer-style.ts'
import type { AnswerView } from './answer-view.ts'
import { approvalParts, type ShowTime } from './show-approval.ts'
import type { AnswerTexts } from './texts/answer-texts.ts'
import { ANSWER_TEXTS } from './texts/built-in-texts.ts'
import { isolated } from './visible-text.ts'

export interface AnswerPage {
  /** BCP 47 tag. */
  readonly language: string
  readonly html: string
}

/** The answer pages of a host. */
export interface AnswerPages {
  /** Content of the one `<style>` element. */
  readonly style: string
  /** Renders the page: HTML without scripts and external resources. */
  render(view: AnswerView, acceptLanguage: string): AnswerPage
}

/** @param options Checked by `answerPageOptions`. */
export function answerPages(options: AnswerPageOptions = {}): AnswerPages {
  const textsFor = pageLanguages(ANSWER_TEXTS, options)
  const style = styleOf(`${PAGE_STYLE}\n${ANSWER_STYLE}`, options.css)
  const timesIn = timesByLanguage()
  return {
    style,
    render(view, acceptLanguage) {
      const { language, texts } = textsFor(acceptLanguage)
      const heading = html`${options.title ?? texts.title}`
      const body = bodyOf(view, texts, timesIn(language))
      return { language, html: htmlPage({ language, heading, sender: options.name, style, body }) }
    },
  }
}

function bodyOf(view: AnswerView, texts: AnswerTexts, time: ShowTime): Html {
  if (view.show === 'not_found') return html`<p>${texts.notFound}</p>`
  if (view.show === 'sign_in') return html`<p>${signInText(view, texts)}</p>`
  if (view.show === 'unavailable') {
    return html`<p role="alert">${texts.failed}</p>${view.given && html`\n${sameForm(view.given, texts)}`}`
  }
  const { approval, user } = view
  if (view.show === 'question') {
    const form = answerForm({ ...view, schema: approval.schema }, texts)
    return html`${approvalParts(approval, user, texts, time)}${form}`
  }
  const notices = html`${noticesOf(view, texts)}${statusOf(approval, texts, time)}`
  return html`${notices}${approvalParts(approval, undefined, texts, time)}`
}

function signInText({ user }: Extract<AnswerView, { readonly show: 'sign_in' }>, texts: AnswerTexts): Html {
  return user === undefined ? html`${texts.signIn}` : filled(texts.notAsked, { user: isolated(user) })
}

type WithoutForm = Extract<AnswerView, { readonly show: 'answered' | 'late' | 'status' }>

/** What the person must know first: the fate of the sent answer, and that others have yet to answer. */
function noticesOf({ show, approval, user }: WithoutForm, texts: AnswerTexts): Html {
  const own = approval.answers.find((answer) => answer.user === user)?.answer
  const isWaiting = approval.status === 'open' && own !== undefined
  const done = own === 'decline' ? texts.doneDeclined : texts.doneAccepted
  return html`${show === 'answered' && own !== undefined ? html`<p role="status">${done}</p>\n` : undefined}${
    show === 'late' ? html`<p role="alert">${texts.late}</p>\n` : undefined
  }${isWaiting ? html`<p>${texts.waiting}</p>\n` : undefined}`
}

function statusOf({ status, endedAt, consumed }: ApprovalView, texts: AnswerTexts, time: ShowTime): Html | undefined {
  if (status === 'open') return undefined
  const ended = endedAt === undefined ? undefined : html` ${time(endedAt)}`
  const used = consumed && html`<p>${texts.consumed} ${time(consumed.consumedAt)}</p>\n`
  return html`<p><strong>${texts[status]}</strong>${ended}</p>\n${used}`
}

/** Formatters are kept: to make one takes much longer than to use it. */
function timesByLanguage(): (language: string) => ShowTime {
  const formatters = new Map<string, Intl.DateTimeFormat>()
  return (language) => (instant) => {
    const formatter = formatters.get(language) ?? new Intl.DateTimeFormat(language, TIME)
    formatters.set(language, formatter)
    const at = Date.parse(instant)
    return html`<time datetime="${instant}">${Number.isNaN(at) ? instant : formatter.format(at)}</time>`
  }
}

const TIME: Intl.DateTimeFormatOptions = {
  ...{ year: 'numeric', month: 'long', day: 'numeric', hour: '2-digit', minute: '2-digit' },
  ...{ timeZone: 'UTC', timeZoneName: 'short' },
}
