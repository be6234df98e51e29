import { useEffect, useRef, useState } from 'preact/hooks'
import { compact, isNumber, textOf } from '../../../console/app/words.ts'
import type { Series, Unit } from './series.ts'

const [WIDTH, HEIGHT] = [300, 56]
const DAY_MS = 86_400_000

/** A small plot of bars with its scale. A pointer or the arrow keys read one bar; a button opens the large plot. */
export function Chart(series: Series) {
  const { label, unit, step: length, times, values } = series
  const [isOpen, setOpen] = useState(false)
  const [chosen, choose] = useState<number>()
  const most = Math.max(0, ...values.filter(isNumber))
  const hidden = values.find((value) => value !== undefined && !isNumber(value))
  const step = WIDTH / Math.max(1, values.length)
  const bars = values.map((value, at) =>
    barAt(at * step, step, ((isNumber(value) ? Math.max(0, value) : 0) / (most || 1)) * HEIGHT),
  )
  const last = values.length - 1
  const read = Math.min(chosen ?? last, last)
  const scale =
    most > 0 ? `at most ${spelled(most, unit)} in ${length}` : textOf(hidden === undefined ? 'none' : hidden)
  const words = `${clock(times, read)}: ${spelled(values[read], unit)}`
  return (
    <>
      <div class="chart">
        <span class="scale">{scale}</span>
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

function spelled(value: unknown, [one, many]: Unit): string {
  if (value === undefined) return 'no value'
  return isNumber(value) ? `${compact(value)} ${value === 1 ? one : many}` : textOf(value)
}

/** The time of a bucket; with its day, if the plot covers more than one. */
function clock(times: Series['times'], at: number): string {
  const [first, last, own] = [times[0], times.at(-1), times[at]]
  if (first === undefined || last === undefined || own === undefined) return textOf(null)
  const date = new Date(own)
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  if (last - first < DAY_MS) return time
  const day = date.toLocaleDateString([], { day: 'numeric', month: 'short' })
  return last - first < 20 * DAY_MS ? `${day} ${time}` : day
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
