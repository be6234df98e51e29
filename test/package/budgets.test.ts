import { describe, expect, it } from 'vitest'
import { entries, readJson } from '../support/entries.ts'

/** An entry of size-limit in `package.json`. */
interface Budget {
  readonly name: string
  readonly path: string
  readonly import: string
  readonly ignore: readonly string[]
  readonly gzip: boolean
  readonly limit: string
}

const manifest = readJson('package.json')
const budgets: readonly Budget[] = manifest['size-limit']

describe('the size budgets', () => {
  it('Every entry has a size budget for all its exports', () => {
    const whole = budgets.filter((budget) => budget.import === '*')
    const built = [...entries().keys()].map((entry) => {
      const { default: file } = manifest.exports[entry.replace('sallyport', '.')]
      return [entry, file.replace('./', '')]
    })
    expect(whole.map(({ name, path }) => [name, path])).toEqual(built)
  })

  it('Each handler, both handlers and the client have their own size budgets', () => {
    const parts = budgets.filter(({ import: names }) => names !== '*')
    expect(parts.map(({ path, import: names }) => [path, names])).toEqual([
      ['dist/index.js', '{ handleDispatch }'],
      ['dist/index.js', '{ handleSessionRun }'],
      ['dist/index.js', '{ handleDispatch, handleSessionRun }'],
      ['dist/client.js', '{ createClient }'],
    ])
  })

  it('The size budgets count gzipped code with dependencies, without peers and Node modules', () => {
    expect(budgets.filter(({ gzip, ignore }) => !gzip || ignore.join() !== 'node:*')).toEqual([])
  })

  it('The size budgets keep the client under 2.5 kB, and under 4.9 kB with the run recorder', () => {
    expect(bytes("import { createClient } from 'sallyport/client'")).toBeLessThanOrEqual(2_500)
    expect(bytes('sallyport/client')).toBeLessThanOrEqual(4_900)
  })
})

function bytes(entry: string): number {
  const limit = budgets.find(({ name }) => name === entry)?.limit ?? ''
  const [, figure = Number.NaN, unit] = /^([\d.]+) (k?)B$/.exec(limit) ?? []
  return Number(figure) * (unit === 'k' ? 1_000 : 1)
}
