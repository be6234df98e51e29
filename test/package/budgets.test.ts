import { describe, expect, it } from 'vitest'
import { entries, readJson } from '../support/entries.ts'

/** As size-limit reads it from `package.json`. */
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

describe('the budgets of size', () => {
  it('are there for every entry, with all that it exports', () => {
    const whole = budgets.filter((budget) => budget.import === '*')
    const built = [...entries().keys()].map((entry) => {
      const { default: file } = manifest.exports[entry.replace('sallyport', '.')]
      return [entry, file.replace('./', '')]
    })
    expect(whole.map(({ name, path }) => [name, path])).toEqual(built)
  })

  it('are there for each handler, for both, and for the client alone', () => {
    const parts = budgets.filter(({ import: names }) => names !== '*')
    expect(parts.map(({ path, import: names }) => [path, names])).toEqual([
      ['dist/index.js', '{ handleDispatch }'],
      ['dist/index.js', '{ handleSessionRun }'],
      ['dist/index.js', '{ handleDispatch, handleSessionRun }'],
      ['dist/client.js', '{ createClient }'],
    ])
  })

  it('are of what is transferred, dependencies and all, but peers and what Node brings', () => {
    expect(budgets.filter(({ gzip, ignore }) => !gzip || ignore.join() !== 'node:*')).toEqual([])
  })

  it('keep the client under 2 kB, and with the recorder of runs under 4.5', () => {
    expect(bytes("import { createClient } from 'sallyport/client'")).toBeLessThanOrEqual(2_000)
    expect(bytes('sallyport/client')).toBeLessThanOrEqual(4_500)
  })
})

function bytes(entry: string): number {
  const limit = budgets.find(({ name }) => name === entry)?.limit ?? ''
  const [, figure = Number.NaN, unit] = /^([\d.]+) (k?)B$/.exec(limit) ?? []
  return Number(figure) * (unit === 'k' ? 1_000 : 1)
}
