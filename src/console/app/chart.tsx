import { useEffect, useRef, useState } from 'preact/hooks'
import { compact } from './words.ts'

export type Unit = readonly [one: string, many: string]

export interface Series {
  readonly label: string
  /** Unit in the singular and the plural. */
  readonly unit: Unit
  /** Length of a bucket, such as `1m`. */
  readonly step: string
  /** Epoch seconds, ascending. */
  readonly times: readonly number[]
  readonly values: readonly (number | null)[]
}

const [WIDTH, HEIGHT] = [300, 56]

/** A small plot of bars with its scale. A pointer or the arrow keys read one bar; a button opens the large plot. */
export function Chart(series: Series) {
  const { label, unit, step: length, times, values } = series
  const [isOpen, setOpen] = useState(false)
  const [chosen, choose] = useState<number>()
  const most = values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0)
  const step = WIDTH / Math.max(1, values.length)
  const bars = values.map((value, at) => barAt(at * step, step, ((value ?? 0) / (most || 1)) * HEIGHT))
  const last = values.length - 1
  const read = Math.min(chosen ?? last, last)
  const words = `${clock(times, read)}: ${spelled(values[read], unit)}`
  return (
    <>
      <div class="chart">
        <span class="scale">{most === 0 ? 'none' : `at most ${spelled(most, unit)} in ${length}`}</span>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path class="bars" d={bars.join('')} />
          {chosen !== undefined && <path class="chosen" d={barAt(read * step, step, HEIGHT)} />}
        </svg>
        <input
          type="range"
          min={0}
          max={Math.max(0, last)}
          value={read}
          aria-label={`${label} by time`}
          aria-valuetext={words}
          onInput={(event) => choose(Number(event.currentTarget.value))}
          onPointerMove={({ offsetX, currentTarget }) =>
            choose(Math.max(0, Math.min(last, Math.floor((offsetX / currentTarget.clientWidth) * values.length))))
          }
          onPointerLeave={() => choose(undefined)}
          onBlur={() => choose(undefined)}
        />
        <span class="ends">
          <span>{clock(times, 0)}</span>
          <span>now</span>
        </span>
      </div>
      <p class="readout">{chosen === undefined ? `latest: ${spelled(values[last], unit)}` : words}</p>
      <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Close plot' : 'Open plot'}
        <span class="hidden"> of {label}</span>
      </button>
      {isOpen && <Plot {...series} />}
    </>
  )
}

function barAt(x: number, width: number, height: number): string {
  return height === 0
    ? ''
    : `M${x.toFixed(1)} ${HEIGHT}V${(HEIGHT - height).toFixed(1)}h${(width * 0.8).toFixed(1)}V${HEIGHT}z`
}

function spelled(value: number | null | undefined, [one, many]: Unit): string {
  return value === null || value === undefined ? 'no value' : `${compact(value)} ${value === 1 ? one : many}`
}

/** The time of a bucket; with its day, if the plot covers more than one. */
function clock(times: readonly number[], at: number): string {
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const date = new Date((times[at] ?? 0) * 1_000)
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  if (last - first < 86_400) return time
  const day = date.toLocaleDateString([], { day: 'numeric', month: 'short' })
  return last - first < 20 * 86_400 ? `${day} ${time}` : day
}

function Plot(series: Series) {
  const box = useRef<HTMLDivElement>(null)
  const { label, unit, step, times, values } = series
  useEffect(() => {
    let isGone = false
    let remove = (): void => {}
    void import('./plot.ts').then(({ drawPlot }) => {
      if (!isGone && box.current) remove = drawPlot(box.current, { label, unit, step, times, values })
    })
    return () => {
      isGone = true
      remove()
    }
  }, [label, unit, step, times, values])
  return <div class="plot" ref={box} />
}
