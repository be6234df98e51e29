import type { ComponentChildren } from 'preact'
import { Scroll, Time } from './parts.tsx'
import { duration } from './words.ts'

/** A row with a bar, or a mark, on the time axis that all rows share. */
export interface TimeRow {
  readonly key: string
  readonly cells: readonly ComponentChildren[]
  /** Epoch milliseconds. */
  readonly from: number
  /** Absent: it still goes on. */
  readonly to?: number | undefined
  readonly tone: 'good' | 'bad' | 'going' | 'plain'
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
  const from = rows.reduce((least, row) => Math.min(least, row.from), now)
  const to = rows.reduce((most, row) => Math.max(most, row.to ?? now), from + 1)
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
              <span class="ends">
                <span>
                  <Time at={new Date(from).toISOString()} />
                </span>
                <span>{duration((to - from) / 2)}</span>
                <span>{duration(to - from)}</span>
              </span>
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
                <Bar row={row} from={from} to={to} now={now} />
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
  row,
  from,
  to,
  now,
}: {
  readonly row: TimeRow
  readonly from: number
  readonly to: number
  readonly now: number
}) {
  const x = (at: number): number => ((at - from) / (to - from)) * WIDTH
  const end = row.to ?? now
  const start = Math.min(x(row.from), WIDTH - 4)
  const took = row.to === undefined ? `${duration(end - row.from)}, still open` : duration(end - row.from)
  const words = `begins after ${duration(row.from - from)}${end > row.from ? `, takes ${took}` : ''}`
  return (
    <svg viewBox={`0 0 ${WIDTH} 20`} preserveAspectRatio="none" role="img" aria-label={words}>
      <title>{words}</title>
      <path d={`M.5 0V20M${WIDTH / 2} 0V20M${WIDTH - 0.5} 0V20`} />
      <rect class={row.tone} x={start} y="4" width={Math.max(4, x(end) - start)} height="12" />
    </svg>
  )
}
