import { useEffect, useRef, useState } from 'preact/hooks'
import { duration, Time } from './parts.tsx'

export interface Series {
  readonly label: string
  /** Epoch seconds. */
  readonly times: readonly number[]
  readonly values: readonly (number | null)[]
}

const [WIDTH, HEIGHT] = [240, 40]

/** A small plot; a button opens the large one. */
export function Spark({ label, times, values }: Series) {
  const [isOpen, setOpen] = useState(false)
  const most = Math.max(1, ...values.map((value) => value ?? 0))
  const step = WIDTH / Math.max(1, values.length)
  const top = (value: number): number => HEIGHT - (value / most) * (HEIGHT - 2)
  const path = values.map(
    (value, at) => `${at === 0 ? 'M' : 'L'}${(at * step).toFixed(1)} ${top(value ?? 0).toFixed(1)}`,
  )
  return (
    <>
      <svg
        class="spark"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: at most ${most}`}
      >
        <path d={path.join('')} />
      </svg>
      <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Close plot' : 'Open plot'}
        <span class="hidden"> of {label}</span>
      </button>
      {isOpen && <Plot label={label} times={times} values={values} />}
    </>
  )
}

function Plot({ label, times, values }: Series) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let isGone = false
    let remove = (): void => {}
    void import('./plot.ts').then(({ drawPlot }) => {
      if (!isGone && box.current) remove = drawPlot(box.current, { label, times, values })
    })
    return () => {
      isGone = true
      remove()
    }
  }, [label, times, values])
  return <div class="plot" ref={box} />
}

/** One bar or mark on a time axis. */
export interface Span {
  readonly label: string
  readonly from: number
  /** Absent: it still goes on. */
  readonly to?: number | undefined
  readonly tone: 'good' | 'bad' | 'going' | 'plain'
  readonly depth?: number
  readonly href?: string
}

const ROW = 22

/** Bars on one time axis, in milliseconds since the epoch. */
export function TimeAxis({ spans, label }: { readonly spans: readonly Span[]; readonly label: string }) {
  const now = Date.now()
  const from = Math.min(...spans.map((span) => span.from))
  const to = Math.max(from + 1, ...spans.map((span) => span.to ?? now))
  const x = (at: number): number => ((at - from) / (to - from)) * 1_000
  const height = spans.length * ROW
  return (
    <figure class="axis">
      <svg viewBox={`0 0 1000 ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {spans.map((span, row) => (
          <rect
            key={`${span.label} ${span.from}`}
            class={span.tone}
            x={x(span.from)}
            y={row * ROW + 4}
            width={Math.max(3, x(span.to ?? now) - x(span.from))}
            height={ROW - 8}
            rx="3"
          />
        ))}
      </svg>
      <ol>
        {spans.map((span) => (
          <li key={`${span.label} ${span.from}`} class={`depth-${Math.min(span.depth ?? 0, 8)}`}>
            {span.href ? <a href={span.href}>{span.label}</a> : span.label}
          </li>
        ))}
      </ol>
      <figcaption>
        <Time at={new Date(from).toISOString()} /> to <Time at={new Date(to).toISOString()} />: {duration(to - from)}
      </figcaption>
    </figure>
  )
}
