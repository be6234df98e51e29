import uPlot from 'uplot'
import { isNumber } from '../../../console/app/words.ts'
import type { Series } from './series.ts'

const HEIGHT = 240

/** Draws a large plot with a cursor. Returns a function that removes it. */
export function drawPlot(box: HTMLElement, { label, unit, times, values }: Series): () => void {
  if (times.every((at) => at === undefined) || !values.some((value) => value === undefined || isNumber(value))) {
    box.textContent = 'Nothing to plot: the values are hidden.'
    return () => box.replaceChildren()
  }
  const color = getComputedStyle(box).color
  const axis = { stroke: color, grid: { stroke: `color-mix(in srgb, ${color} 15%, transparent)` } }
  const points = times.flatMap((at, index) =>
    at === undefined ? [] : [[at / 1_000, numberOf(values[index])] as const],
  )
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      series: [
        {},
        {
          label: `${label} (${unit[1]})`,
          stroke: color,
          width: 2,
          fill: `color-mix(in srgb, ${color} 12%, transparent)`,
        },
      ],
      axes: [axis, axis],
      scales: { y: { range: (_, least, most) => [Math.min(0, least ?? 0), Math.max(1, most ?? 1)] } },
    },
    [points.map(([at]) => at), points.map(([, value]) => value)],
    box,
  )
  const resized = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT }))
  resized.observe(box)
  return () => {
    resized.disconnect()
    plot.destroy()
  }
}

/** A plot has a gap where it has no number. */
function numberOf(value: unknown): number | null {
  return isNumber(value) ? value : null
}
