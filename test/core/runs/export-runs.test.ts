import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Run } from '../../../src/model/run.ts'
import type { RunQuery } from '../../../src/ports/run-store.ts'
import type { RunExportOptions } from '../../../src/services/runs.ts'
import { app, optionProblems } from './test-app.ts'

/** `count` runs, every third failed, and the queries that the store got. */
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

describe('exportRuns', () => {
  it('An export has a line of JSON for each run of all pages', async () => {
    const { runs, queries } = await filled(250)
    const lines: string[] = []
    for await (const line of runs.export()) lines.push(line)
    expect(lines).toHaveLength(250)
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true)
    expect(idsOf(parsed(lines.join('')))).toEqual(named(250))
    expect(parsed(lines[7] ?? '')).toEqual([await runs.get({ sessionId: 's1', runId: 'r7' })])
    expect(queries.map(({ limit }) => limit)).toEqual([100, 100, 100])
  })

  it('An export without runs is empty', async () => {
    const lines: string[] = []
    for await (const line of app().runs.export()) lines.push(line)
    expect(lines).toEqual([])
  })

  it.each<[RunExportOptions, readonly string[]]>([
    [{ status: 'failed' }, ['r0', 'r3']],
    [{ first: 'newest' }, ['r4', 'r3', 'r2', 'r1', 'r0']],
    [{ tenant: 'other' }, ['theirs']],
    [{ sessionId: 's2' }, []],
  ])('An export can be filtered by %j', async (options, expected) => {
    const { runs } = await filled(5)
    const ids: string[] = []
    for await (const line of runs.export(options)) ids.push(...idsOf(parsed(line)))
    expect(ids).toEqual(expected)
  })

  it('An export can be read as a Node stream', async () => {
    const { runs } = await filled(250)
    const chunks: string[] = []
    for await (const chunk of Readable.from(runs.export())) chunks.push(chunk)
    expect(idsOf(parsed(chunks.join('')))).toEqual(named(250))
  })

  it('An export can be the body of a Response', async () => {
    const { runs } = await filled(250)
    const body = ReadableStream.from(runs.export()).pipeThrough(new TextEncoderStream())
    const answer = new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
    expect(idsOf(parsed(await answer.text()))).toEqual(named(250))
  })

  it('An export reads pages only on demand', async () => {
    const { runs, queries } = await filled(350)
    const untouched = runs.export()
    expect(queries).toEqual([])
    let read = 0
    for await (const _ of untouched) if (++read === 101) break
    expect(queries).toHaveLength(2)
  })

  it('An export stops when its stream is destroyed or its body cancelled', async () => {
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

  it('An export yields to the event loop between pages', async () => {
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

  it('An export uses the options as they were at the call', async () => {
    const { runs } = await filled(4)
    const options: { status?: 'failed' } = { status: 'failed' }
    const lines = runs.export(options)
    delete options.status
    const ids: string[] = []
    for await (const line of lines) ids.push(...idsOf(parsed(line)))
    expect(ids).toEqual(['r0', 'r3'])
  })

  it('An export refuses invalid options before it reads anything', async () => {
    const { runs } = app()
    const wrong = { status: 'done', limit: 5, cursor: 'x', colour: 'red' } as never
    expect(() => runs.export(wrong)).toThrow('runs.export:')
    const problems = await optionProblems(() => runs.export(wrong))
    expect(problems).toMatchObject([{ field: 'limit' }, { field: 'cursor' }, { field: 'colour' }, { field: 'status' }])
  })

  it('An export throws what the store throws', async () => {
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
