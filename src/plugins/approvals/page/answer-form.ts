import type { AnswerSchema } from '../../../model/approval.ts'
import { controlOf, fieldOfControl, writeValue } from '../../../pages/form-values.ts'
import { filled, type Html, html } from '../../../pages/html.ts'
import type { AnswerProblem, GivenForm } from './answer-view.ts'
import { controlsOf, describedBy, type Field, invalid, problemsOf } from './form-controls.ts'
import { fieldNamed, problemText } from './problem-texts.ts'
import { MAX_COMMENT } from './read-answer-form.ts'
import type { AnswerTexts } from './texts/answer-texts.ts'
import { isolated } from './visible-text.ts'

export interface FormParts {
  readonly schema: AnswerSchema | undefined
  readonly problems?: readonly AnswerProblem[]
  /** Absent: the form is new, and has the defaults of its fields. */
  readonly given?: GivenForm
}

/**
 * The form of an answer, below the problems that it had. It has no action: it posts to the URL of the page, below any prefix. Its first
 * button is disabled, so that the Enter key in a field sends nothing.
 */
export function answerForm(parts: FormParts, texts: AnswerTexts): Html {
  const { schema, given, problems = [] } = parts
  const problemsAt = (control: string): readonly Html[] =>
    problems.filter(({ field }) => field === control).map((problem) => problemText(problem, schema, texts))
  const fields = Object.entries(schema?.properties ?? {}).map(([name, field]): Field => {
    const control = controlOf(name)
    return {
      ...{ control, label: field.title ?? name, field, problems: problemsAt(control) },
      isRequired: schema?.required?.includes(name) ?? false,
      values: given ? (given[control] ?? []) : writeValue(field, field.default),
    }
  })
  return html`<h2>${texts.answer}</h2>
${problemList(parts, texts)}<form method="post">
<button type="submit" disabled hidden></button>
${fields.map((field) => html`${controlsOf(field, texts)}\n`)}${commentField(given?.comment?.[0] ?? '', problemsAt('comment'), texts)}
<button type="submit" name="answer" value="accept">${texts.accept}</button>
<button type="submit" name="answer" value="decline" class="second" formnovalidate>${texts.decline}</button>
</form>`
}

/** Sends the same form again. */
export function sameForm(given: GivenForm, texts: AnswerTexts): Html {
  const controls = Object.entries(given).flatMap(([name, values]) =>
    values.map((value) => html`<input type="hidden" name="${name}" value="${value}">\n`),
  )
  return html`<form method="post">\n${controls}<button type="submit">${texts.retry}</button>\n</form>`
}

/** The problems of the form as links to its controls. */
function problemList({ schema, problems = [] }: FormParts, texts: AnswerTexts): Html | undefined {
  if (problems.length === 0) return undefined
  const items = problems.map((problem) => {
    const text = problemText(problem, schema, texts)
    const name = fieldOfControl(problem.field)
    const field = fieldNamed(name, schema)
    if (problem.field === 'comment') return html`<li><a href="#comment">${texts.comment}</a> – ${text}</li>`
    if (name === undefined) return html`<li>${text}</li>`
    const label = isolated(field?.title ?? name)
    return html`<li>${field ? html`<a href="#${problem.field}">${label}</a>` : label} – ${text}</li>`
  })
  return html`<div class="problems" role="alert">
<p>${texts.problems}</p>
<ul>
${items}
</ul>
</div>
`
}

function commentField(text: string, problems: readonly Html[], texts: AnswerTexts): Html {
  const hint = filled(texts.commentHint, { most: `${MAX_COMMENT}` })
  const attributes = html` id="comment" name="comment"${describedBy('comment', true, problems)}${invalid(problems)}`
  return html`<div class="field">
<label for="comment">${texts.comment}</label>
<p class="hint" id="comment.hint">${hint}</p>
<textarea${attributes} maxlength="${`${MAX_COMMENT}`}" dir="auto">\n${text}</textarea>
${problemsOf('comment', problems)}</div>`
}
