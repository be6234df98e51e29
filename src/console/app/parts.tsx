import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Loaded, Page, Problem } from './api.ts'
import { place, setQuery } from './router.ts'

/** Shows what was loaded; a problem, or that it is loading. What was there stays visible while the server is away. */
export function Shown<T>({
  of: { data, problem },
  children,
}: {
  readonly of: Loaded<T>
  readonly children: (data: T) => ComponentChildren
}) {
  return (
    <>
      {problem && <Failure of={problem} />}
      {data !== undefined ? children(data) : !problem && <p class="state">Loading …</p>}
    </>
  )
}

export function Failure({ of: { detail, errors = [] } }: { readonly of: Problem }) {
  return (
    <div class="failure" role="alert">
      <p>{detail}</p>
      {errors.map(({ pointer, detail }) => (
        <p key={pointer}>
          <code>{pointer || 'the request'}</code> {detail}
        </p>
      ))}
    </div>
  )
}

export interface Column<T> {
  readonly head: string
  readonly cell: (item: T) => ComponentChildren
}

/** A page of a list with the way to the next one. */
export function List<T>({
  of,
  columns,
  keyOf,
  empty,
  label,
}: {
  readonly of: Loaded<Page<T>>
  readonly columns: readonly Column<T>[]
  readonly keyOf: (item: T) => string
  readonly empty: string
  readonly label: string
}) {
  const hasCursor = place.value.query.has('cursor')
  return (
    <Shown of={of}>
      {({ items, next }) => (
        <>
          {items.length === 0 ? (
            <p class="state">{hasCursor || next ? 'Nothing matches on this page.' : empty}</p>
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
          )}
          <p class="pager">
            {hasCursor && (
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
        </>
      )}
    </Shown>
  )
}

export function Badge({ children }: { readonly children: string }) {
  return <span class={`badge ${TONES[children] ?? 'plain'}`}>{children.replaceAll('_', ' ')}</span>
}

const TONES: Readonly<Record<string, string>> = {
  ...{ sent: 'good', completed: 'good', accepted: 'good', delivered: 'good', within: 'good' },
  ...{
    failed: 'bad',
    expired: 'bad',
    partial: 'bad',
    rejected: 'bad',
    refused: 'bad',
    hard: 'bad',
    bounced: 'bad',
    complained: 'bad',
  },
  ...{
    queued: 'going',
    sending: 'going',
    held: 'going',
    running: 'going',
    waiting: 'going',
    retry: 'going',
    soft: 'going',
  },
}

/** An instant in the reader's time zone; its title has the exact one. */
export function Time({ at }: { readonly at: string }) {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <>{at}</>
  const isToday = date.toDateString() === new Date().toDateString()
  return (
    <time dateTime={at} title={at}>
      {isToday ? date.toLocaleTimeString() : date.toLocaleString()}
    </time>
  )
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
  if (ms < 48 * 3_600_000) return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`
  return `${Math.round(ms / 86_400_000)} days`
}

export function count(value: number): string {
  return value.toLocaleString()
}

export function money(cost: readonly { readonly amount: string; readonly currency: string }[]): string {
  return cost.length === 0 ? '–' : cost.map(({ amount, currency }) => `${amount} ${currency}`).join(' + ')
}

/** Names and values; empty values are left out. */
export function Facts({ of }: { readonly of: Readonly<Record<string, ComponentChildren>> }) {
  const known = Object.entries(of).filter(([, value]) => value !== undefined && value !== '' && value !== false)
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A field of a form that filters a list; the address keeps its value. */
export function Filter({
  name,
  label,
  options,
}: {
  readonly name: string
  readonly label: string
  readonly options?: readonly string[]
}) {
  const value = place.value.query.get(name) ?? ''
  const set = (next: string): void => setQuery({ [name]: next || undefined, cursor: undefined })
  const id = `filter-${name}`
  return (
    <label htmlFor={id}>
      {label}
      {options ? (
        <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
          <option value="">all</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      ) : (
        <input id={id} value={value} onChange={(event) => set(event.currentTarget.value.trim())} />
      )}
    </label>
  )
}

/** The filters of the address that a list takes. */
export function queryOf(names: readonly string[]): Record<string, string | undefined> {
  const { query } = place.value
  return Object.fromEntries(['cursor', ...names].map((name) => [name, query.get(name) ?? undefined]))
}

/** A button that asks again before it acts, and says how it went. */
export function Action({
  label,
  confirm,
  run,
}: {
  readonly label: string
  readonly confirm: string
  readonly run: () => Promise<string>
}) {
  const [isAsked, setAsked] = useState(false)
  const [said, setSaid] = useState('')
  const act = async (): Promise<void> => {
    setAsked(false)
    setSaid('…')
    setSaid(await run())
  }
  return (
    <span class="action">
      {isAsked ? (
        <>
          {confirm}{' '}
          <button type="button" onClick={act}>
            Yes, {label.toLowerCase()}
          </button>{' '}
          <button type="button" onClick={() => setAsked(false)}>
            No
          </button>
        </>
      ) : (
        <button type="button" onClick={() => setAsked(true)}>
          {label}
        </button>
      )}
      <span role="status">{said}</span>
    </span>
  )
}

/** JSON as text. */
export function Json({ of, label }: { readonly of: unknown; readonly label: string }) {
  return (
    <Scroll label={label}>
      <pre>{JSON.stringify(of, null, 2)}</pre>
    </Scroll>
  )
}

/** Wide content, which a keyboard can reach and scroll. */
export function Scroll({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}
