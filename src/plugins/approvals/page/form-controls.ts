import type { AnswerField, NumberField, TextField } from '../../../model/approval.ts'
import { type Choice, kindOfField, lengthsOf } from '../../../pages/field-kinds.ts'
import { isNumber, localInstant } from '../../../pages/form-values.ts'
import { type Html, html } from '../../../pages/html.ts'
import { FORMATS } from '../schema/formats.ts'
import type { AnswerTexts } from './texts/answer-texts.ts'
import { isolated, visible } from './visible-text.ts'

/** A longer text gets several lines. */
const MAX_LINE = 200

/** A field of the schema with what its control shows. */
export interface Field {
  /** Name and id of the control. */
  readonly control: string
  readonly label: string
  readonly field: AnswerField
  readonly isRequired: boolean
  readonly values: readonly string[]
  readonly problems: readonly Html[]
}

/** The controls of one field, with label, description and problems. */
export function controlsOf(field: Field, texts: AnswerTexts): Html {
  const known = kindOfField(field.field)
  switch (known.kind) {
    case 'text':
      return labelled(field, textControl(field, known.field), texts)
    case 'number':
      return labelled(field, numberControl(field, known.field), texts)
    case 'flag':
      return group(field, 'radio', withNone(field, flagChoices(texts), texts), texts)
    case 'choice':
      return group(field, 'radio', withNone(field, known.choices, texts), texts)
    case 'choices':
      return group(field, 'checkbox', known.choices, texts)
  }
}

/** Ids of the texts about a control. */
export function describedBy(control: string, hasHints: boolean, problems: readonly Html[]): Html | undefined {
  const ids = [...(hasHints ? [`${control}.hint`] : []), ...(problems.length > 0 ? [`${control}.problem`] : [])]
  return ids.length === 0 ? undefined : html` aria-describedby="${ids.join(' ')}"`
}

export function invalid(problems: readonly Html[]): Html | undefined {
  return problems.length > 0 ? html` aria-invalid="true"` : undefined
}

export function problemsOf(control: string, problems: readonly Html[]): Html | undefined {
  if (problems.length === 0) return undefined
  return html`<p class="problem" id="${control}.problem">${lined(problems)}</p>\n`
}

function hintsOf({ control, field }: Field, texts: AnswerTexts): Html | undefined {
  const lines = [
    ...(field.description === undefined ? [] : [visible(field.description)]),
    ...(isTime(field) ? [html`${texts.utc}`] : []),
  ]
  return lines.length === 0 ? undefined : html`<p class="hint" id="${control}.hint" dir="auto">${lined(lines)}</p>\n`
}

function isTime(field: AnswerField): boolean {
  return 'format' in field && field.format === 'date-time'
}

function lined(lines: readonly Html[]): readonly Html[] {
  return lines.map((line, index) => html`${index > 0 ? html`<br>` : undefined}${line}`)
}

function labelOf({ label, isRequired }: Field, texts: AnswerTexts): Html {
  return html`${isolated(label)}${isRequired ? html` <span class="need">(${texts.required})</span>` : undefined}`
}

function labelled(field: Field, control: Html, texts: AnswerTexts): Html {
  return html`<div class="field">
<label for="${field.control}">${labelOf(field, texts)}</label>
${hintsOf(field, texts)}${control}
${problemsOf(field.control, field.problems)}</div>`
}

/** Radio buttons or check boxes. */
function group(field: Field, type: 'radio' | 'checkbox', choices: readonly Choice[], texts: AnswerTexts): Html {
  const { control, values, problems, isRequired } = field
  const hints = hintsOf(field, texts)
  // A browser would demand each of several required check boxes.
  const required = isRequired && type === 'radio' ? html` required` : undefined
  const boxes = choices.map(({ value, title }) => {
    const isOn = value === '' ? values.every((given) => given === '') : values.includes(value)
    const checked = isOn ? html` checked` : undefined
    const box = html`<input type="${type}" name="${control}" value="${value}"${checked}${required}>`
    return html`<label class="choice">${box} ${isolated(title)}</label>\n`
  })
  return html`<fieldset id="${control}"${describedBy(control, hints !== undefined, problems)}>
<legend>${labelOf(field, texts)}</legend>
${hints}${boxes}${problemsOf(control, problems)}</fieldset>`
}

function flagChoices({ yes, no }: AnswerTexts): readonly Choice[] {
  return [
    { value: 'true', title: yes },
    { value: 'false', title: no },
  ]
}

/** A radio button cannot be cleared, so an optional field has one more. */
function withNone({ isRequired }: Field, choices: readonly Choice[], { none }: AnswerTexts): readonly Choice[] {
  return isRequired ? choices : [...choices, { value: '', title: none }]
}

function textControl(field: Field, known: TextField): Html {
  const [text = ''] = field.values
  const { format, minLength } = known
  if (format === 'date') return timeControl('date', '9999-12-31', field, FORMATS.date.fits(text))
  if (format === 'date-time') {
    return timeControl('datetime-local', '9999-12-31T23:59', field, localInstant(text) !== undefined)
  }
  const [, most] = lengthsOf(known)
  const least = minLength === undefined ? undefined : html` minlength="${`${minLength}`}"`
  const attributes = html`${attributesOf(field)}${least} maxlength="${`${most}`}"`
  if (format !== undefined) {
    return html`<input type="${format === 'uri' ? 'url' : 'email'}"${attributes} value="${text}">`
  }
  const isLong = most > MAX_LINE || text.includes('\n')
  if (isLong) return html`<textarea${attributes} dir="auto">\n${text}</textarea>`
  return html`<input type="text"${attributes} dir="auto" value="${text}">`
}

/** A browser shows nothing for a value of another form: it is then a text, so that nothing typed is lost. */
function timeControl(type: string, max: string, field: Field, fits: boolean): Html {
  const [text = ''] = field.values
  if (text !== '' && !fits) return html`<input type="text"${attributesOf(field)} value="${text}">`
  return html`<input type="${type}"${attributesOf(field)} max="${max}" step="any" value="${text}">`
}

function numberControl(field: Field, { type, minimum, maximum }: NumberField): Html {
  const [text = ''] = field.values
  if (text !== '' && !isNumber(text)) {
    return html`<input type="text" inputmode="decimal"${attributesOf(field)} value="${text}">`
  }
  const isWhole = type === 'integer'
  const min = minimum === undefined ? undefined : html` min="${`${isWhole ? Math.ceil(minimum) : minimum}`}"`
  const max = maximum === undefined ? undefined : html` max="${`${isWhole ? Math.floor(maximum) : maximum}`}"`
  return html`<input type="number"${attributesOf(field)}${min}${max} step="${isWhole ? '1' : 'any'}" value="${text}">`
}

function attributesOf({ control, isRequired, field, problems }: Field): Html {
  const described = describedBy(control, field.description !== undefined || isTime(field), problems)
  const required = isRequired ? html` required` : undefined
  return html` id="${control}" name="${control}"${described}${invalid(problems)}${required}`
}
