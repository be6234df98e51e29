import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../support/entries.ts'
import { ELSEWHERE, testsNear } from './tests-near.ts'

const SMALL = [
  'test/core/runs/events.test.ts',
  'test/core/runs/price-run.test.ts',
  'test/core/runs/merge/joins.test.ts',
  'test/core/runs/merge/laws.test.ts',
  'test/core/runs-x/odd.test.ts',
  'test/core/worker-stop.test.ts',
  'test/core/worker.test.ts',
  'test/core/worker/loops.test.ts',
  'test/core/workers.test.ts',
  'test/docs/snippets.test.ts',
  'test/storage/claim.test.ts',
  'test/storage/sql/sql-runs.test.ts',
  'test/storage/documents/keys.test.ts',
]
const near = (...paths: string[]): string[] => testsNear(paths, SMALL)

describe('the tests near a path', () => {
  it('A folder has the tests below its mirror, and not those of a folder with a longer name', () => {
    expect(near('src/core/runs')).toEqual([
      'test/core/runs/events.test.ts',
      'test/core/runs/merge/joins.test.ts',
      'test/core/runs/merge/laws.test.ts',
      'test/core/runs/price-run.test.ts',
    ])
  })

  it('A file has the tests and the folder of its name', () => {
    expect(near('src/core/worker.ts')).toEqual([
      'test/core/worker-stop.test.ts',
      'test/core/worker.test.ts',
      'test/core/worker/loops.test.ts',
    ])
  })

  it('A file without tests of its name has all tests of its folder, and one of its name around it', () => {
    const all = ['test/core/runs/merge/joins.test.ts', 'test/core/runs/merge/laws.test.ts']
    expect(near('src/core/runs/merge/texts.ts')).toEqual(all)
    expect(near('src/core/runs/merge/price-run.ts')).toEqual([...all, 'test/core/runs/price-run.test.ts'])
  })

  it('A folder without a mirror has the tests of its nearest parent', () => {
    expect(near('src/core/runs/merge/deep/below')).toEqual(near('src/core/runs/merge'))
    expect(near('src/core/runs/merge/deep/joins.ts')).toEqual(['test/core/runs/merge/joins.test.ts'])
  })

  it('A part of storage has the tests of all stores too', () => {
    expect(near('src/storage/sql/runs/sql-runs.ts')).toEqual([
      'test/storage/claim.test.ts',
      'test/storage/sql/sql-runs.test.ts',
    ])
    expect(near('src/storage/documents')).toEqual(['test/storage/claim.test.ts', 'test/storage/documents/keys.test.ts'])
  })

  it('A page of the docs has the tests of the docs', () => {
    expect(near('docs/runs.md')).toEqual(['test/docs/snippets.test.ts'])
  })

  it('A test has itself, and its helper has its folder', () => {
    expect(near('test/core/worker.test.ts')).toEqual(['test/core/worker.test.ts'])
    expect(near('test/storage/sql/fill.ts')).toEqual(['test/storage/sql/sql-runs.test.ts'])
  })

  it('Several paths have each test once', () => {
    expect(near('src/core/runs/merge', 'src/core/runs/merge/joins.ts')).toEqual(near('src/core/runs/merge'))
  })

  it.each([
    ['src/none', 'src/none has no tests: looked for test/none'],
    ['src/none.ts', 'src/none.ts has no tests: looked for test/none.test.ts'],
    ['src/none/one.ts', 'src/none/one.ts has no tests: looked for test/none'],
    ['test/support', 'test/support has no tests: looked for test/support'],
    ['test/support/deps.ts', 'test/support/deps.ts has no tests: looked for test/support'],
    ['tsup.config.ts', 'tsup.config.ts has no tests: only src, docs and test have mirrors'],
  ])('%s has no tests, and the error names the folder', (path, message) => {
    expect(() => near('src/core', path)).toThrow(message)
  })
})

describe('the tests of this package', () => {
  const filesOf = (folder: string): string[] =>
    readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}${name}`)
  const tests = filesOf('test/').filter((name) => /\.test(?:-d)?\.ts$/.test(name))
  const sources = filesOf('src/').filter((name) => /\.tsx?$/.test(name))

  it('Every file of src has tests near it', () => {
    expect(sources.length).toBeGreaterThan(400)
    for (const source of sources) expect(testsNear([source], tests).length).toBeGreaterThan(0)
  })

  it('Everything that has tests elsewhere exists, and so do they', () => {
    const named = Object.entries(ELSEWHERE).flat(2)
    expect(named.filter((path) => !existsSync(new URL(path.replace('/*', ''), ROOT)))).toEqual([])
  })

  it('The entry, the errors and the ports have tests of their own', () => {
    expect(testsNear(['src/index.ts'], tests)).toContain('test/package/public-names.test.ts')
    expect(testsNear(['src/errors.ts'], tests)).toContain('test/core/answers/errors.test.ts')
    expect(testsNear(['src/ports/channel.ts'], tests)).toContain('test/contract-tests/channel-contract.test.ts')
  })
})
