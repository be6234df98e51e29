import uPlot from 'uplot'
import type { Series } from './chart.tsx'

/** Draws a large plot with a cursor. Returns a function that removes it. */
export function drawPlot(box: HTMLElement, { label, unit, times, values }: Series): () => void {
  const color = getComputedStyle(box).color
  const axis = { stroke: color, grid: { stroke: `color-mix(in srgb, ${color} 15%, transparent)` } }
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height: 240,
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
    [[...times], [...values]],
    box,
  )
  return () => plot.destroy()
}
