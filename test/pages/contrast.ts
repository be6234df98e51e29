/** Colours of the rules of a style that define variables: of the light scheme, then of the dark one. */
export function colourSchemes(style: string): readonly Readonly<Record<string, string>>[] {
  const rules = style.split('\n').filter((rule) => rule.includes(':root{'))
  return rules.map((rule) =>
    Object.fromEntries([...rule.matchAll(/--(\w+):(#\w{6})/g)].map(([, name = '', value = '']) => [name, value])),
  )
}

/** Contrast ratio of two colours (WCAG 2.2). */
export function contrast(one: string, other: string): number {
  const [least = 0, greatest = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (greatest + 0.05) / (least + 0.05)
}

function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
