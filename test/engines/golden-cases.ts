import { existsSync, readFileSync } from 'node:fs'

export const GOLDEN = '../shared/data/golden_liquid.json'

export interface GoldenCase {
  readonly name: string
  readonly template: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly result?: string
  readonly results?: readonly string[]
  /** Shopify's Liquid refuses it. */
  readonly invalid?: boolean
}

/** Empty where the data are absent. */
export const goldenCases: readonly GoldenCase[] = existsSync(GOLDEN)
  ? JSON.parse(readFileSync(GOLDEN, 'utf8')).tests
  : []
/** The template after assignments of its data, which events have below `data`. */
export function placed({ template, data = {} }: GoldenCase): string {
  const names = Object.keys(data).filter((name) => /^[\w-]+$/.test(name))
  return `${names.map((name) => `{% assign ${name} = data.${name} %}`).join('')}${template}`
}
