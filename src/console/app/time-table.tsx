import type { ComponentChildren } from 'preact'
import { Scroll, Time, type Tone } from './parts.tsx'
import { duration, textOf } from './words.ts'

/** Epoch milliseconds. */
interface Span {
  readonly from: number
  /** Absent: it still goes on. */
  readonly to?: number
}

export function openSpan(from: number | undefined): Span | undefined {
  return from === undefined ? undefined : { from }
}

export function spanOf(from: number | undefined, to: number | undefined): Span | undefined {
  return from === undefined || to === undefined ? undefined : { from, to: Math.max(from, to) }
}

/** A row with a bar, or a mark, on the time axis that all rows share. */
export interface TimeRow {
  readonly key: string
  readonly cells: readonly ComponentChildren[]
  /** `undefined`: its times are hidden. */
  readonly span: Span | undefined
  readonly tone: Tone
  /** Rows below another one in a tree: the first cell is moved to the right. */
  readonly depth?: number
}

const DEEPEST = 8

/** A table whose last column is one time axis. */
export function TimeTable({
  label,
  heads,
  rows,
}: {
  readonly label: string
  readonly heads: readonly string[]
  readonly rows: readonly TimeRow[]
}) {
  const now = Date.now()
  const spans = rows.flatMap(({ span }) => span ?? [])
  const from = spans.reduce((least, span) => Math.min(least, span.from), now)
  const to = spans.reduce((most, span) => Math.max(most, span.to ?? now), from + 1)
  return (
    <Scroll label={label}>
      <table class="times">
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col" key={head}>
                {head}
              </th>
            ))}
            <th scope="col">
              {spans.length === 0 ? (
                'Time'
              ) : (
                <span class="ends">
                  <span>
                    <Time at={new Date(from).toISOString()} />
                  </span>
                  <span>{duration((to - from) / 2)}</span>
                  <span>{duration(to - from)}</span>
                </span>
              )}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              {row.cells.map((cell, at) => (
                <td key={heads[at]} class={at === 0 ? `depth-${Math.min(row.depth ?? 0, DEEPEST)}` : undefined}>
                  {cell}
                </td>
              ))}
              <td class="bar">
                {row.span ? <Bar of={row.span} tone={row.tone} from={from} to={to} now={now} /> : textOf(null)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

const WIDTH = 1_000

function Bar({
  of: span,
  tone,
  from,
  to,
  now,
}: {
  readonly of: Span
  readonly tone: Tone
  readonly from: number
  readonly to: number
  readonly now: number
}) {
  const x = (at: number): number => ((at - from) / (to - from)) * WIDTH
  const end = span.to ?? now
  const start = Math.min(x(span.from), WIDTH - 4)
  const took = span.to === undefined ? `${duration(end - span.from)}, still open` : duration(end - span.from)
  const words = `begins after ${duration(span.from - from)}${end > span.from ? `, takes ${took}` : ''}`
  return (
    <svg viewBox={`0 0 ${WIDTH} 20`} preserveAspectRatio="none" role="img" aria-label={words}>
      <title>{words}</title>
      <path d={`M.5 0V20M${WIDTH / 2} 0V20M${WIDTH - 0.5} 0V20`} />
      <rect class={tone} x={start} y="4" width={Math.max(4, x(end) - start)} height="12" />
    </svg>
  )
}
