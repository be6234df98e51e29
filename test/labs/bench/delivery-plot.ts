import { median } from './measure.ts'

/** The measurements of one queue size, a value for each round. */
export interface Point {
  readonly queued: number
  readonly micros: readonly number[]
}

const [WIDTH, HEIGHT] = [640, 320]
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 24, 40, 48]

/** An SVG of microseconds per delivery over queued deliveries, both logarithmic: medians and ranges. */
export function plotDelivery(points: readonly Point[]): string {
  const step =
    [1, 2, 5, 10, 20, 50].find((size) => size * 6 >= Math.max(...points.flatMap(({ micros }) => micros))) ?? 100
  const decades = points.map(({ queued }) => Math.log10(queued))
  const [first, last] = [Math.min(...decades), Math.max(...decades)]
  const x = (queued: number): number =>
    Math.round(LEFT + 20 + ((Math.log10(queued) - first) / (last - first)) * (WIDTH - LEFT - RIGHT - 40))
  const y = (micros: number): number => Math.round(HEIGHT - BOTTOM - (micros / (step * 6)) * (HEIGHT - TOP - BOTTOM))
  const grid = [0, 1, 2, 3, 4, 5, 6].map((index) => {
    const at = y(index * step)
    return `<path class="grid" d="M${LEFT} ${at}H${WIDTH - RIGHT}"/><text x="${LEFT - 8}" y="${at + 4}" text-anchor="end">${index * step}</text>`
  })
  const marks = points.map(({ queued, micros }) => {
    const at = x(queued)
    return [
      `<path class="range" d="M${at} ${y(Math.min(...micros))}V${y(Math.max(...micros))}"/>`,
      `<circle cx="${at}" cy="${y(median(micros))}" r="4"/>`,
      `<text x="${at + 8}" y="${y(median(micros)) - 8}">${median(micros).toFixed(1)}</text>`,
      `<text x="${at}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${queued.toLocaleString('en')}</text>`,
    ].join('')
  })
  const line = points.map(({ queued, micros }) => `${x(queued)} ${y(median(micros))}`).join('L')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="Microseconds a delivery, by how many are queued">
<style>
text { font: 12px system-ui, sans-serif; fill: #57606a }
.grid { stroke: #d0d7de } .range, .line { stroke: #0969da; fill: none; stroke-width: 2 } .range { stroke-opacity: 0.5 } circle { fill: #0969da }
@media (prefers-color-scheme: dark) { text { fill: #9198a1 } .grid { stroke: #3d444d } .range, .line { stroke: #4493f8 } circle { fill: #4493f8 } }
</style>
<text x="${LEFT}" y="20">microseconds a delivery; median, lowest and highest round</text>
${grid.join('\n')}
<path class="line" d="M${line}"/>
${marks.join('\n')}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">deliveries queued</text>
</svg>
`
}
