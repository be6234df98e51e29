import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type Page, type Problem, withQuery } from './api.ts'
import { useKnownNames } from './catalogue.ts'
import { Empty, Scroll, Shown, Time } from './parts.tsx'
import { type Loaded, usePage } from './reading.ts'
import type { Redacted } from './redacted.ts'
import { place, setQuery } from './router.ts'
import { Screen } from './screen.tsx'
import { instantAt, localTime } from './words.ts'

export interface Column<T> {
  readonly head: string
  readonly cell: (item: T) => ComponentChildren
}

/** A field that filters a list; the address keeps its value. */
export interface Filter {
  readonly name: string
  readonly label: string
  /** Its values. Default: any text. */
  readonly options?: readonly string[]
  /** `instant`: RFC 3339 in the address, entered as a local time. Default: text. */
  readonly kind?: 'instant'
  /** Said where nothing matches this value. Default: nothing. */
  readonly hint?: (value: string) => ComponentChildren
}

interface Listed<T> {
  readonly columns: readonly Column<T>[]
  readonly keyOf: (item: T) => string
  readonly label: string
  /** Shown when there is nothing: what would be here, and how to get it. */
  readonly empty: ComponentChildren
}

/** A screen with the pages of a list and its filters. */
export function ListScreen<T>({
  path,
  filters,
  title,
  children,
  below,
  ...listed
}: Omit<Listed<Redacted<T>>, 'label'> & {
  /** Below `api/`. */
  readonly path: string
  readonly filters: readonly Filter[]
  readonly title: string
  readonly children?: ComponentChildren
  /** Between the filters and the list. */
  readonly below?: ComponentChildren
}) {
  const { query } = place.value
  const names = ['cursor', ...filters.map(({ name }) => name)]
  const asked = Object.fromEntries(names.map((name) => [name, query.get(name) ?? undefined]))
  const of = usePage<T>(withQuery(path, asked))
  const isFiltered = filters.some(({ name }) => query.has(name))
  const empty = isFiltered ? <Searched filters={filters} /> : listed.empty
  return (
    <Screen title={title}>
      {children}
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        {filters.map((filter) => (
          <Field key={filter.name} of={filter} problem={of.problem} />
        ))}
        {isFiltered && (
          <button
            type="button"
            class="quiet"
            onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, undefined])))}
          >
            Clear filters
          </button>
        )}
      </form>
      {below}
      <List of={of} {...listed} label={title} empty={empty} />
    </Screen>
  )
}

/** The filters that match nothing, in words: each compares whole values. */
function Searched({ filters }: { readonly filters: readonly Filter[] }) {
  const used = filters.flatMap((filter) => {
    const value = place.value.query.get(filter.name)
    return value ? [{ ...filter, value }] : []
  })
  return (
    <>
      Nothing matches{' '}
      {used.map(({ name, label, kind, options, value }, at) => (
        <Fragment key={name}>
          {at > 0 && ', '}
          {kind !== 'instant' && 'the '}
          {label.toLowerCase()} {!kind && !options && 'exactly '}
          {kind === 'instant' ? <Time at={value} /> : <code>{value}</code>}
        </Fragment>
      ))}
      . {used.map(({ name, hint, value }) => hint && <Fragment key={name}>{hint(value)} </Fragment>)}
      Clear a filter to see more.
    </>
  )
}

function Field({ of, problem }: { readonly of: Filter; readonly problem: Problem | undefined }) {
  const { name, label, options, kind } = of
  const known = useKnownNames(name)
  const given = place.value.query.get(name) ?? ''
  const value = kind === 'instant' ? localTime(given) : given
  // Half-typed text stays when a poll draws the list again.
  const [draft, setDraft] = useState(value)
  useEffect(() => setDraft(value), [value])
  const id = `filter-${name}`
  const fault = problem?.errors?.find(({ pointer }) => pointer === `/${name}`)?.detail
  const own = { id, value: draft, 'aria-invalid': fault !== undefined, 'aria-describedby': fault && `${id}-fault` }
  const set = (next: string): void => setQuery({ [name]: next || undefined, cursor: undefined }, 'stay')
  return (
    <label htmlFor={id}>
      {label}
      {options ? (
        <select {...own} onChange={(event) => set(event.currentTarget.value)}>
          <option value="">all</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {option.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...own}
          type={kind === 'instant' ? 'datetime-local' : 'search'}
          list={known.length > 0 ? `${id}-known` : undefined}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onChange={({ currentTarget: { value } }) => set(kind === 'instant' ? instantAt(value) : value.trim())}
        />
      )}
      {known.length > 0 && (
        <datalist id={`${id}-known`}>
          {known.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
      {fault && (
        <span class="fault" id={`${id}-fault`}>
          {fault}
        </span>
      )}
    </label>
  )
}

/** A page of a list with the way to the next one. */
export function List<T>({ of, label, columns, keyOf, empty }: Listed<T> & { readonly of: Loaded<Page<T>> }) {
  const hasCursor = place.value.query.has('cursor')
  return (
    <>
      <Shown of={of}>
        {({ items, next }) =>
          items.length === 0 ? (
            <Empty>{emptyPage(hasCursor, next) ?? empty}</Empty>
          ) : (
            <Scroll label={label}>
              <table>
                <thead>
                  <tr>
                    {columns.map(({ head }) => (
                      <th scope="col" key={head}>
                        {head}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {items.map((item) => (
                    <tr key={keyOf(item)}>
                      {columns.map(({ head, cell }) => (
                        <td key={head}>{cell(item)}</td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )
        }
      </Shown>
      <Pager next={of.data?.next} />
    </>
  )
}

/** A store searches a limited number of records for one page. */
function emptyPage(hasCursor: boolean, next: string | undefined): string | undefined {
  if (next !== undefined) return 'Nothing matches on this page. The next page searches further.'
  return hasCursor ? 'Nothing matches on this page.' : undefined
}

/** Buttons to the first page and the next. The address keeps the cursor. */
export function Pager({ next }: { readonly next: string | undefined }) {
  if (!place.value.query.has('cursor') && !next) return null
  return (
    <p class="pager">
      {place.value.query.has('cursor') && (
        <button type="button" onClick={() => setQuery({ cursor: undefined })}>
          First page
        </button>
      )}
      {next && (
        <button type="button" onClick={() => setQuery({ cursor: next })}>
          Next page
        </button>
      )}
    </p>
  )
}
