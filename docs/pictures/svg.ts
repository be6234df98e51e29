import type { Tone } from './flows.ts'

/** The colours of one theme. */
export type Palette = Readonly<Record<'page' | 'panel' | 'box' | 'line' | 'text' | 'muted' | 'accent' | Tone, string>>

export const PALETTES: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    page: '#ffffff',
    panel: '#f6f8fa',
    box: '#ffffff',
    line: '#d1d9e0',
    text: '#1f2328',
    muted: '#59636e',
    accent: '#0969da',
    good: '#1a7f37',
    waiting: '#9a6700',
    quiet: '#59636e',
  },
  dark: {
    page: '#0d1117',
    panel: '#151b23',
    box: '#212830',
    line: '#3d444d',
    text: '#f0f6fc',
    muted: '#9198a1',
    accent: '#4493f8',
    good: '#3fb950',
    waiting: '#d29922',
    quiet: '#9198a1',
  },
}

/** `x` and `y` are the left upper corner. */
export interface Rectangle {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** An SVG of that size. `label` is read out in place of the picture. */
export function document(
  palette: Palette,
  label: string,
  width: number,
  height: number,
  parts: readonly string[],
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
<style>
text { font: 13px system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; fill: ${palette.muted} }
.middle { text-anchor: middle } .end { text-anchor: end }
.head { font-size: 17px; font-weight: 600; fill: ${palette.text} }
.title { font-size: 15px; font-weight: 600; fill: ${palette.text} }
.good { font-weight: 600; fill: ${palette.good} } .waiting { font-weight: 600; fill: ${palette.waiting} } .quiet { font-weight: 600; fill: ${palette.quiet} }
.page { fill: ${palette.page} } .panel { fill: ${palette.panel}; stroke: ${palette.line} }
.box { fill: ${palette.box}; stroke: ${palette.line} } .store { fill: ${palette.box}; stroke: ${palette.accent}; stroke-width: 1.5 }
.arrow { fill: none; stroke: ${palette.accent}; stroke-width: 1.5 } .tip { fill: ${palette.accent} }
</style>
<rect class="page" width="${width}" height="${height}" rx="8"/>
${parts.join('\n')}
</svg>
`
}

export function text(x: number, y: number, classes: string, content: string): string {
  return `<text x="${x}" y="${y}"${classes === '' ? '' : ` class="${classes}"`}>${content}</text>`
}

export function rectangle({ x, y, width, height }: Rectangle, kind: 'panel' | 'box'): string {
  return `<rect class="${kind}" x="${x}" y="${y}" width="${width}" height="${height}" rx="8"/>`
}

/** A box with its lines in the middle: the first of them bold. */
export function box(place: Rectangle, lines: readonly string[]): string {
  const middle = place.x + place.width / 2
  const first = place.y + place.height / 2 - ((lines.length - 1) * 18) / 2 + 5
  const rows = lines.map((line, index) =>
    text(middle, first + index * 18, index === 0 ? 'middle title' : 'middle', line),
  )
  return [rectangle(place, 'box'), ...rows].join('')
}

/** A cylinder. */
export function store({ x, y, width, height }: Rectangle): string {
  const [radius, depth] = [width / 2, Math.min(10, width / 8)]
  const [top, bottom, right] = [y + depth, y + height - depth, x + width]
  const side = `M${x} ${top}V${bottom}A${radius} ${depth} 0 0 0 ${right} ${bottom}V${top}`
  return `<path class="store" d="${side}A${radius} ${depth} 0 0 0 ${x} ${top}A${radius} ${depth} 0 0 0 ${right} ${top}A${radius} ${depth} 0 0 0 ${x} ${top}"/>`
}

/** A line without a tip. */
export function line(path: string): string {
  return `<path class="arrow" d="${path}"/>`
}

/** A straight arrow, to the right, to the left or down. */
export function arrow(from: readonly [x: number, y: number], to: readonly [x: number, y: number]): string {
  const [x, y] = to
  const [right, down] = [Math.sign(x - from[0]), Math.sign(y - from[1])]
  const [neckX, neckY] = [x - right * 7, y - down * 7]
  const corners = [`${x} ${y}`, `${neckX + down * 4} ${neckY + right * 4}`, `${neckX - down * 4} ${neckY - right * 4}`]
  return `<path class="arrow" d="M${from.join(' ')}L${neckX} ${neckY}"/><path class="tip" d="M${corners.join('L')}Z"/>`
}
