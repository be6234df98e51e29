import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import type { TimelineList } from '../../src/core/runs/sessions/timeline.ts'
import type { TimelineEntry } from '../../src/model/session.ts'
import type { Plugin, PluginParts } from '../../src/plugins/plugin.ts'
import type { RunKey } from '../../src/ports/run-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'

const plugin = (parts: PluginParts, name = 'own'): Plugin => ({ name, setup: () => parts })
const OF = { sessionId: 's1', runId: 'r1' }

function host(...plugins: readonly Plugin[]) {
  const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
  const sallyport = createSallyport({
    ...{ auth: testAuth, store: memoryStore({ clock }), clock, logger: recordingLogger(), plugins },
  })
  const handle = toFetch(sallyport)
  const post = async (runId = 'r1', sessionId = 's1'): Promise<void> => {
    const headers = { authorization: 'Bearer app', 'content-type': 'application/json' }
    const body = JSON.stringify({ sessionId, run: { runId, status: 'running' } })
    const answer = await handle(new Request('http://a.test/api/agents/session/run', { method: 'POST', headers, body }))
    expect(answer.status).toBeLessThan(300)
  }
  return { sallyport, clock, post }
}

describe('views of runs by plugins', () => {
  it('Members are added to runs wherever they are read; those of earlier plugins and of the core stay', async () => {
    const asked: unknown[] = []
    const { sallyport, post } = host(
      plugin({
        view: {
          async runs(runs, shown) {
            asked.push([shown, runs])
            return runs.map(({ runId }) => ({ status: 'failed', note: `of ${runId}` }))
          },
        },
      }),
      plugin({ view: { runs: async (runs) => runs.map(() => ({ note: 'later', more: true })) } }, 'other'),
    )
    await post()
    await post('r2')
    const [one, two] = ['r1', 'r2'].map((runId) => ({ runId, status: 'running', note: `of ${runId}`, more: true }))
    expect(await sallyport.runs.get(OF)).toMatchObject(one as object)
    expect((await sallyport.runs.list({ first: 'oldest' })).items).toMatchObject([one, two])
    const lines: string[] = []
    for await (const line of sallyport.runs.export({ sessionId: 's1' })) lines.push(line)
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([one, two])
    expect((await sallyport.sessions.timeline('s1')).items).toMatchObject([{ run: one }, { run: two }])
    expect((await sallyport.sessions.get('s1'))?.timeline).toMatchObject([{ run: one }, { run: two }])
    const both = [
      { tenant: 'default', ...OF },
      { tenant: 'default', sessionId: 's1', runId: 'r2' },
    ] as const
    expect(asked).toEqual([
      ...[['one', both.slice(0, 1)], ...['page', 'export', 'page', 'page'].map((shown) => [shown, both])],
    ])
    expect(await sallyport.runs.get({ ...OF, runId: 'r3' })).toBeUndefined()
    expect(asked).toHaveLength(5)
  })

  it.each<[string, () => unknown, RegExp]>([
    ['rejects', () => Promise.reject(new Error('down')), /^down$/],
    [
      'returns too few',
      async () => [],
      /^view\.runs\(\) of the plugin own returned .*; return a list of further members/,
    ],
    ['hangs', () => new Promise(() => {}), /^view\.runs\(\) of the plugin own did not answer within 30 s$/],
  ])('A view that %s rejects the read', async (_, runs, message) => {
    const { sallyport, clock, post } = host(plugin({ view: { runs: runs as never } }))
    await post()
    const read = expect(sallyport.runs.get(OF)).rejects.toThrow(message)
    await setImmediate()
    clock.advance(30_000)
    await read
  })
})

describe('timelines by plugins', () => {
  const entry = (at: number): TimelineEntry => ({ type: 'approval', at: String(at), approval: {} as never })
  const listOf = (times: readonly number[]): TimelineList => {
    const all = times.map((at) => ({ id: String(at), at, view: () => entry(at) }))
    return async ({ first, limit, cursor = '0' }) => {
      const ordered = first === 'oldest' ? all : all.toReversed()
      const end = Number(cursor) + limit
      return {
        items: ordered.slice(Number(cursor), end),
        ...(end < all.length && { nextCursor: String(end) }),
      }
    }
  }

  it('A further list is merged by time, page by page, without repeated or missed entries', async () => {
    const NOON = Date.UTC(2027, 0, 15, 12)
    // More than a page of the store has, some before and some after the runs.
    const times = Array.from({ length: 230 }, (_, at) => NOON - 1_000 + at * 10)
    const { sallyport, clock, post } = host(plugin({ session: { timeline: listOf(times) } }))
    for (const runId of ['r1', 'r2', 'r3']) {
      await post(runId)
      clock.advance(500)
    }
    const shown: string[] = []
    let cursor: string | undefined
    do {
      const page = await sallyport.sessions.timeline('s1', { limit: 7, ...(cursor !== undefined && { cursor }) })
      shown.push(...page.items.map((one) => (one.type === 'run' ? one.run.runId : one.at)))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    const runs = [1, 2, 3].map((at) => ({ id: `r${at}`, at: NOON + (at - 1) * 500 - 0.5 }))
    const all = [...runs, ...times.map((at) => ({ id: String(at), at }))].sort((one, other) => one.at - other.at)
    expect(shown).toEqual(all.map(({ id }) => id))
    const newest = (await sallyport.sessions.get('s1'))?.timeline ?? []
    expect(newest.map((one) => (one.type === 'run' ? one.run.runId : one.at))).toEqual(shown.slice(-100))
  })

  it('A list of another form is refused with what to return', async () => {
    const { sallyport, post } = host(plugin({ session: { timeline: (async () => []) as never } }))
    await post()
    await expect(sallyport.sessions.timeline('s1')).rejects.toThrow(
      /^session\.timeline\(\) of the plugin own returned .*; return \{ items, nextCursor\? \}/,
    )
  })
})

describe('runs that are awaited', () => {
  const sweep = async (isAwaited: (run: RunKey) => Promise<boolean>) => {
    const { sallyport, clock, post } = host(plugin({ session: { isAwaited } }))
    await post()
    await post('r2')
    clock.advance(10_000)
    return { swept: sallyport.runs.sweepStale({ olderThan: 1_000 }), sallyport }
  }

  it('The stale sweep leaves them alone', async () => {
    const { swept, sallyport } = await sweep(async ({ runId }) => runId === 'r1')
    expect(await swept).toEqual({ expired: 1 })
    expect(await sallyport.runs.get(OF)).toMatchObject({ status: 'running' })
  })

  it('A run of which a plugin cannot say it is left alone, and the others are swept', async () => {
    const { swept, sallyport } = await sweep(async ({ runId }) => {
      if (runId === 'r1') throw new Error('down')
      return false
    })
    await expect(swept).rejects.toThrow('down')
    expect(await sallyport.runs.get(OF)).toMatchObject({ status: 'running' })
    expect(await sallyport.runs.get({ ...OF, runId: 'r2' })).toMatchObject({ status: 'expired' })
  })
})

describe('an erasure of a session', () => {
  it('Plugins erase before its runs are removed, and a user is none of their business', async () => {
    const told: unknown[] = []
    const { sallyport, post } = host(
      plugin({ session: { erase: async (of) => void told.push(of, await sallyport.runs.get(OF)) } }),
    )
    await post()
    await sallyport.runs.erase({ userId: 'jane' })
    expect(told).toEqual([])
    expect(await sallyport.runs.erase({ sessionId: 's1' })).toEqual({ erased: 1 })
    expect(told).toMatchObject([{ tenant: 'default', sessionId: 's1' }, OF])
    await sallyport.runs.erase({ sessionId: 's2' }, { tenant: 'acme' })
    expect(told[2]).toEqual({ tenant: 'acme', sessionId: 's2' })
  })

  it('An error of a plugin rejects it, and nothing is removed', async () => {
    const erase = async (): Promise<never> => {
      throw new Error('down')
    }
    const { sallyport, post } = host(plugin({ session: { erase } }))
    await post()
    await expect(sallyport.runs.erase({ sessionId: 's1' })).rejects.toThrow('down')
    expect(await sallyport.runs.get(OF)).toBeDefined()
  })
})
