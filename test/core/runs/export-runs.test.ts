import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Run } from '../../../src/model/run.ts'
import type { RunQuery } from '../../../src/ports/run-store.ts'
import type { RunExportOptions } from '../../../src/sallyport/runs.ts'
import { app, optionProblems } from './test-app.ts'

/** So many runs, every third of which failed, and what the store was asked. */
async function filled(count: number) {
  const queries: RunQuery[] = []
  const all = app((store) => ({
    ...store,
    async listRuns(query) {
      queries.push(query)
      return store.listRuns(query)
    },
  }))
  for (let n = 0; n < count; n++)
    await all.post({
      runId: `r${n}`,
      metadata: { text: `two\nlines\u2028"${n}"` },
      ...(n % 3 === 0 && { status: 'failed' }),
    })
  await all.post({ runId: 'theirs' }, { token: 'other' })
  return { ...all, queries }
}

function parsed(text: string): Run[] {
  expect(text === '' || text.endsWith('\n')).toBe(true)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

const idsOf = (runs: readonly Run[]): string[] => runs.map(({ runId }) => runId)
const named = (count: number): string[] => Array.from({ length: count }, (_, n) => `r${n}`)

describe('an export of runs', () => {
  it('is a line of JSON for each, over all pages', async () => {
    const { runs, queries } = await filled(250)
    const lines: string[] = []
    for await (const line of runs.export()) lines.push(line)
    expect(lines).toHaveLength(250)
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    expect(idsOf(parsed(lines.join('')))).toEqual(named(250))
    expect(parsed(lines[7] ?? '')).toEqual([await runs.get('r7')])
    expect(queries.map(({ limit }) => limit)).toEqual([100, 100, 100])
  })

  it('is nothing where there is nothing', async () => {
    const lines: string[] = []
    for await (const line of app().runs.export()) lines.push(line)
    expect(lines).toEqual([])
  })

  it.each<[RunExportOptions, readonly string[]]>([
    [{ status: 'failed' }, ['r0', 'r3']],
    [{ first: 'newest' }, ['r4', 'r3', 'r2', 'r1', 'r0']],
    [{ tenant: 'other' }, ['theirs']],
    [{ sessionId: 's2' }, []],
  ])('can be narrowed by %j', async (options, expected) => {
    const { runs } = await filled(5)
    const ids: string[] = []
    for await (const line of runs.export(options)) ids.push(...idsOf(parsed(line)))
    expect(ids).toEqual(expected)
  })

  it('can be read through a stream of Node', async () => {
    const { runs } = await filled(250)
    const chunks: string[] = []
    for await (const chunk of Readable.from(runs.export())) chunks.push(chunk)
    expect(idsOf(parsed(chunks.join('')))).toEqual(named(250))
  })

  it('can be the body of an answer', async () => {
    const { runs } = await filled(250)
    const body = ReadableStream.from(runs.export()).pipeThrough(new TextEncoderStream())
    const answer = new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
    expect(idsOf(parsed(await answer.text()))).toEqual(named(250))
  })

  it('reads no page before it is asked for one, and none after its reader stops', async () => {
    const { runs, queries } = await filled(350)
    const untouched = runs.export()
    expect(queries).toEqual([])
    let read = 0
    for await (const _ of untouched) if (++read === 101) break
    expect(queries).toHaveLength(2)
  })

  it('stops when a stream of Node is destroyed, or a body is cancelled', async () => {
    const { runs, queries } = await filled(450)
    const stream = Readable.from(runs.export(), { highWaterMark: 1 })
    for await (const _ of stream) break
    expect(stream.destroyed).toBe(true)
    const reader = ReadableStream.from(runs.export()).getReader()
    await reader.read()
    await reader.cancel()
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    expect(queries.length).toBeLessThanOrEqual(3)
  })

  it('lets everything else have its turn between pages', async () => {
    const { runs } = await filled(250)
    let turns = 0
    const count = (): void => {
      turns++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    for await (const _ of runs.export());
    clearImmediate(counting)
    expect(turns).toBeGreaterThanOrEqual(2)
  })

  it('goes by the options as they were when it was asked for', async () => {
    const { runs } = await filled(4)
    const options: { status?: 'failed' } = { status: 'failed' }
    const lines = runs.export(options)
    delete options.status
    const ids: string[] = []
    for await (const line of lines) ids.push(...idsOf(parsed(line)))
    expect(ids).toEqual(['r0', 'r3'])
  })

  it('refuses wrong options at once, before anything is read', async () => {
    const { runs } = app()
    const wrong = { status: 'done', limit: 5, cursor: 'x', colour: 'red' } as never
    expect(() => runs.export(wrong)).toThrow('runs.export:')
    const problems = await optionProblems(() => runs.export(wrong))
    expect(problems).toMatchObject([{ field: 'limit' }, { field: 'cursor' }, { field: 'colour' }, { field: 'status' }])
  })

  it('throws what the store throws while it is read', async () => {
    const lost = new TypeError('connection lost')
    let pages = 0
    const { runs, post } = app((store) => ({
      ...store,
      listRuns: (query) => (++pages > 1 ? Promise.reject(lost) : store.listRuns(query)),
    }))
    for (let n = 0; n < 150; n++) await post({ runId: `r${n}` })
    const ids: string[] = []
    const read = async () => {
      for await (const line of runs.export()) ids.push(...idsOf(parsed(line)))
    }
    await expect(read()).rejects.toBe(lost)
    expect(ids).toEqual(named(100))
  })
})
