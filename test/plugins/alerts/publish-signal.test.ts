import { describe, expect, it } from 'vitest'
import type { Budget } from '../../../src/plugins/alerts/budgets.ts'
import type { PluginCore } from '../../../src/plugins/plugin.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { pending, postRun, type Store } from '../../compose/run-host.ts'
import { recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { alertOutbox, runTestApp } from './publishing.ts'

const perSession: Budget = { name: 'session', per: 'session', hard: { tokens: 1 } }
const DONE = { ok: true, status: 202, headers: {}, body: {} } as const

type Dispatch = NonNullable<PluginCore['dispatch']>

interface Given {
  readonly budgets?: readonly Budget[]
  readonly dispatch?: Dispatch
  readonly clock?: Clock
  readonly over?: (store: Store) => Partial<Store>
}

const perUser: Budget = { name: 'user', per: 'user', hard: { tokens: 1 } }

/** A store whose runs have pending events, and a publisher over it that runs nothing by itself. */
function publishing({ budgets = [perSession, perUser], over, ...deps }: Given = {}) {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const silent = { ...store, findRun: () => Promise.reject(new Error('down')) }
  const runEvents = { 'run.failed': () => undefined, 'budget.exceeded': () => undefined }
  const { sallyport } = runTestApp({ clock, store: silent, budgets: [perSession, perUser], runEvents })
  const logger = recordingLogger()
  const thrown: unknown[] = []
  const toJane = () => ({ recipient: 'jane' })
  const alertOptions = { budgets, runEvents: { 'run.failed': toJane, 'budget.exceeded': toJane } }
  const publisher = alertOutbox(alertOptions, {
    store: { ...store, ...over?.(store) },
    clock,
    logger,
    dispatch: async () => DONE,
    background: () => {},
    hooks: { onError: (_, context) => thrown.push(context) },
    ...deps,
  })
  const post = (run: object, sessionId?: string) => postRun(sallyport, run, undefined, sessionId)
  return { clock, store, post, publisher, logger, thrown }
}

/** A dispatch that refuses the event because of its data. */
const refusing =
  (...pointers: readonly string[]): Dispatch =>
  async () => {
    const errors = pointers.map((pointer) => ({ pointer, code: 'type', detail: 'words' }) as const)
    const body = { type: 'about:blank', title: '', status: 400, code: 'validation_failed', detail: '', errors } as const
    return { ok: false, status: 400, headers: {}, body } as never
  }

/** The `errors` field of the log line of a refused event. */
async function loggedErrors(...pointers: readonly string[]): Promise<unknown> {
  const { post, publisher, logger } = publishing({ dispatch: refusing(...pointers) })
  await post({ runId: 'r1', status: 'failed' })
  await publisher.publishPending()
  return logger.lines.find(({ event }) => event === 'run_event.refused')?.fields?.errors
}

describe('the log line of a refused event', () => {
  it('The log line names the places of the faults, and hides keys below the data of the host', async () => {
    expect(await loggedErrors('', '/recipient', '/eventData/run')).toBe(
      'the body: words, /recipient: words, /eventData/run: words',
    )
    expect(await loggedErrors('/eventData/run/metadata/private')).toBe('/eventData/run/…: words')
    expect(await loggedErrors('/eventData/run/0')).toBe('/eventData/run/…: words')
  })

  it('The log line has at most 10 faults, and 200 characters of a name', async () => {
    const long = 'x'.repeat(201)
    expect(await loggedErrors(`/${long}`)).toBe(`/${'x'.repeat(199)}: words`)
    expect(await loggedErrors(`/eventData/${long}/a`)).toBe(`/eventData/${'x'.repeat(200)}/…: words`)
    expect(await loggedErrors(...Array.from({ length: 11 }, (_, at) => `/a${at}`))).toBe(
      Array.from({ length: 10 }, (_, at) => `/a${at}: words`).join(', '),
    )
  })
})

describe('budget events', () => {
  it('A budget check reads the session only for budgets of sessions', async () => {
    for (const [budgets, times] of [
      [[perUser], 0],
      [[perUser, perSession, { ...perSession, name: 'again' }], 1],
    ] as const) {
      let reads = 0
      const over = (store: Store): Partial<Store> => ({
        findSession: (...args) => {
          reads++
          return store.findSession(...args)
        },
      })
      const { post, publisher } = publishing({ budgets, over })
      await post({ runId: 'r1', userId: 'u1', counts: { inputTokens: 1 } })
      await publisher.publishPending()
      expect(reads).toBe(times)
    }
  })

  it('A budget check reads no ancestors of a run without a parent', async () => {
    const read: unknown[] = []
    const over = (store: Store): Partial<Store> => ({
      findRun: (...args) => {
        read.push(args)
        return store.findRun(...args)
      },
    })
    const { post, publisher } = publishing({ budgets: [perUser], over })
    await post({ runId: 'r1', userId: 'u1', counts: { inputTokens: 1 } })
    await publisher.publishPending()
    expect(read).toEqual([])
  })

  it('A budget check ends for runs that name each other as parents', async () => {
    const users: unknown[] = []
    const over = (store: Store): Partial<Store> => ({
      findSpend: (tenant, userId, since) => {
        users.push(userId)
        return store.findSpend(tenant, userId, since)
      },
    })
    const { post, publisher } = publishing({ budgets: [perUser], over })
    await post({ runId: 'a', parentRunId: 'b', userId: 'u1' })
    await post({ runId: 'b', parentRunId: 'a', userId: 'u2', counts: { inputTokens: 1 } })
    expect(await publisher.publishPending()).toBeGreaterThan(0)
    expect(new Set(users)).toEqual(new Set(['u1', 'u2']))
  })

  it('A budget check that fails is reported as an error of the store', async () => {
    const over = (): Partial<Store> => ({ findSession: () => Promise.reject(new Error('down')) })
    const { post, publisher, store, thrown } = publishing({ budgets: [perSession], over })
    await post({ runId: 'r1', counts: { inputTokens: 1 } })
    await publisher.publishPending()
    expect(thrown).toEqual([{ operation: 'store', eventType: 'budget.exceeded', runId: 'r1' }])
    expect(await pending(store)).toEqual(['r1 budget'])
  })
})

describe('a published event', () => {
  /** Counts the writes of a store. */
  function counting() {
    const merges = { asked: 0, written: 0 }
    const over = (store: Store): Partial<Store> => ({
      mergeRun: (key, decide) => {
        merges.asked++
        return store.mergeRun(key, (snapshot) => {
          const decision = decide(snapshot)
          if (decision.derived || decision.state) merges.written++
          return decision
        })
      },
    })
    return { merges, over }
  }

  it('An event that stays pending causes no call of mergeRun', async () => {
    const { merges, over } = counting()
    const dispatch = () => Promise.reject(new Error('down'))
    const { post, publisher, store } = publishing({ dispatch, over })
    await post({ runId: 'r1', status: 'failed' })
    await publisher.publishPending()
    expect([merges.asked, await pending(store)]).toEqual([0, ['r1 failed']])
  })

  it('An event of a run that is removed meanwhile is published without an error, and the run stays removed', async () => {
    const dispatch: Dispatch = async () => {
      await store.erase('default', { sessionId: 's1' })
      return DONE
    }
    const { post, publisher, store, logger } = publishing({ dispatch })
    await post({ runId: 'r1', status: 'failed' })
    await publisher.publishPending()
    expect(await store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })).toBeUndefined()
    expect(logger.lines).toEqual([])
  })

  it('A budget event stays pending when its run is removed and recorded again meanwhile', async () => {
    let isFirst = true
    const dispatch: Dispatch = async () => {
      if (isFirst) {
        isFirst = false
        await store.erase('default', { sessionId: 's1' })
        clock.advance(1)
        await post({ runId: 'r1', counts: { inputTokens: 5 } })
      }
      return DONE
    }
    const { post, publisher, store, clock } = publishing({ budgets: [perSession], dispatch })
    await post({ runId: 'r1', counts: { inputTokens: 5 } })
    await publisher.publishPending()
    expect(await pending(store)).toEqual(['r1 budget'])
    await publisher.publishPending()
    expect(await pending(store)).toEqual([])
  })

  it('An event of an end is published once although its run changes meanwhile', async () => {
    const { merges, over } = counting()
    const keys: string[] = []
    const dispatch: Dispatch = async (_, __, { key } = {}) => {
      keys.push(String(key))
      await post({ runId: 'r1', tags: ['x'] })
      return DONE
    }
    const { post, publisher, store } = publishing({ dispatch, over })
    await post({ runId: 'r1', status: 'failed' })
    await publisher.publishPending()
    await publisher.publishPending()
    expect([keys.length, await pending(store), merges]).toEqual([1, [], { asked: 1, written: 1 }])
  })

  it('A budget event of a run that changes meanwhile writes nothing', async () => {
    const { merges, over } = counting()
    const dispatch: Dispatch = async () => {
      await post({ runId: 'r1', tags: ['x'] })
      return DONE
    }
    const { post, publisher, store } = publishing({ budgets: [perSession], dispatch, over })
    await post({ runId: 'r1', counts: { inputTokens: 5 } })
    await publisher.publishPending()
    expect([await pending(store), merges]).toEqual([['r1 budget'], { asked: 1, written: 0 }])
  })
})

describe('publishPending', () => {
  it('publishPending stops after a page of which no run could be marked as published', async () => {
    const over = (): Partial<Store> => ({ mergeRun: () => Promise.reject(new Error('down')) })
    const { post, publisher, thrown } = publishing({ over })
    for (let at = 0; at < 41; at++) await post({ runId: `r${at}`, status: 'failed' })
    expect(await publisher.publishPending()).toBe(20)
    expect(thrown[0]).toEqual({ operation: 'store', runId: 'r0' })
  })

  it('publishPending continues after an empty page that is not the last', async () => {
    let pages = 0
    const over = (store: Store): Partial<Store> => ({
      listRuns: async (query) =>
        pages++ === 0 ? { items: [], nextCursor: 'x' } : store.listRuns({ ...query, cursor: undefined }),
    })
    const clock: Clock = {
      now: () => 0,
      after(_, run) {
        setImmediate(run)
        return () => {}
      },
    }
    const { post, publisher } = publishing({ over, clock })
    await post({ runId: 'r1', status: 'failed' })
    expect(await publisher.publishPending()).toBe(1)
  })
})
