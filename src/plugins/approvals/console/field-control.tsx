import { useId } from 'preact/hooks'
import type { AnswerField } from '../../../model/approval.ts'
import { type Choice, kindOfField } from '../../../pages/field-kinds.ts'

const TYPES = { email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' } as const
const YES_OR_NO: readonly Choice[] = [
  { value: 'true', title: 'yes' },
  { value: 'false', title: 'no' },
]

/** A longer list of choices scrolls. */
const MOST_LINES = 6

interface Controlled {
  readonly id: string
  readonly values: readonly string[]
  readonly onChange: (values: readonly string[]) => void
}

/** A field of an answer with its label. Times are in UTC, as on the page of approvers. */
export function FieldControl({
  name,
  field,
  ...controlled
}: Omit<Controlled, 'id'> & { readonly name: string; readonly field: AnswerField }) {
  const { title = name, description } = field
  const id = useId()
  const isTime = 'format' in field && field.format === 'date-time'
  return (
    <label htmlFor={id}>
      {title}
      {isTime && ' (UTC)'}
      <Control id={id} field={field} {...controlled} />
      {description !== undefined && <small>{description}</small>}
    </label>
  )
}

function Control({ field, ...controlled }: Controlled & { readonly field: AnswerField }) {
  const known = kindOfField(field)
  if (known.kind === 'flag') return <Choices choices={YES_OR_NO} {...controlled} />
  if (known.kind === 'choice') return <Choices choices={known.choices} {...controlled} />
  if (known.kind === 'choices') return <Choices choices={known.choices} isMany {...controlled} />
  const { id, values, onChange } = controlled
  const format = known.kind === 'text' ? known.field.format : undefined
  return (
    <input
      id={id}
      type={format ? TYPES[format] : 'text'}
      inputMode={known.kind === 'number' ? 'decimal' : undefined}
      value={values[0] ?? ''}
      onInput={(event) => onChange([event.currentTarget.value])}
    />
  )
}

function Choices({
  id,
  choices,
  isMany = false,
  values,
  onChange,
}: Controlled & { readonly choices: readonly Choice[]; readonly isMany?: boolean }) {
  return (
    <select
      id={id}
      multiple={isMany}
      size={isMany ? Math.min(choices.length, MOST_LINES) : undefined}
      onChange={({ currentTarget }) => onChange([...currentTarget.selectedOptions].map(({ value }) => value))}
    >
      {!isMany && <option value="">–</option>}
      {choices.map(({ value, title }) => (
        <option key={value} value={value} selected={values.includes(value)}>
          {title}
        </option>
      ))}
    </select>
  )
}
