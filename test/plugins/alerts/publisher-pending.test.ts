import { describe, expect, it } from 'vitest'
import { decideMerge } from '../../../src/core/runs/merge-update.ts'
import type { SignalOutbox } from '../../../src/core/runs/signal-outbox.ts'
import type { AlertSignal, RunEvents } from '../../../src/plugins/alerts/run-events.ts'
import type { PluginCore } from '../../../src/plugins/plugin.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { pending, type Store } from '../../compose/run-host.ts'
import { type RecordingLogger, recordingLogger } from '../../support/deps.ts'
import { alertOutbox, raising } from './publishing.ts'

/** Stands still; timers of 0 ms fire. */
const clock: Clock = {
  now: () => 0,
  after(ms, run) {
    if (ms === 0) setImmediate(run)
    return () => {}
  },
}

async function leave(store: Store, runIds: readonly string[], signals: readonly AlertSignal[] = ['failed']) {
  const rules = { tenant: 'default', now: 0, signals: raising(...signals) }
  for (const runId of runIds) {
    const update = { sessionId: 's1', runId, status: 'failed', counts: { inputTokens: 1 } } as const
    await store.mergeRun({ ...rules, sessionId: 's1', runId }, (snapshot) => decideMerge(snapshot, update, rules))
  }
}

/** A publisher that records its dispatches. */
function publishing(
  store: Store,
  runEvents: RunEvents,
  now = () => 0,
): { publisher: SignalOutbox; keys: string[]; background: Promise<unknown>[]; logger: RecordingLogger } {
  const keys: string[] = []
  const background: Promise<unknown>[] = []
  const dispatch: NonNullable<PluginCore['dispatch']> = async (_, { eventType, recipient }, { key } = {}) => {
    keys.push(`${eventType} ${recipient}: ${key}`)
    return { ok: true, status: 202, headers: {}, body: {} }
  }
  const logger = recordingLogger()
  const add = (work: Promise<unknown>): void => void background.push(work)
  const publisher = alertOutbox({ runEvents }, { store, clock: { ...clock, now }, logger, dispatch, background: add })
  return { publisher, keys, background, logger }
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `r${index}`)

describe('publishPending', () => {
  it('publishPending publishes all pending events, each under its own key', async () => {
    const store = memoryStore({ clock })
    await leave(store, numbered(45))
    const { publisher, keys } = publishing(store, { 'run.failed': () => ({ recipient: 'jane' }) })
    expect(await publisher.publishPending()).toBe(45)
    expect(keys).toEqual(numbered(45).map((id) => `run.failed jane: run.failed s1 ${id} 0`))
    expect(await pending(store)).toEqual([])
    expect(await publisher.publishPending()).toBe(0)
  })

  it('publishPending continues after a page that keeps failing, and starts again after the last', async () => {
    const store = memoryStore({ clock })
    await leave(store, numbered(41))
    const asked: string[] = []
    const { publisher } = publishing(store, {
      'run.failed': ({ run }) => {
        asked.push(run.runId)
        if (run.runId !== 'r40') throw new Error('no')
        return undefined
      },
    })
    expect(await publisher.publishPending()).toBe(20)
    expect(await publisher.publishPending()).toBe(20)
    expect(await publisher.publishPending()).toBe(1)
    expect(asked).toEqual(numbered(41))
    expect(await publisher.publishPending()).toBe(20)
    expect(asked.slice(41)).toEqual(numbered(20))
    expect(await pending(store)).toHaveLength(40)
  })

  it('publishPending does not stop at a page of which one run was published', async () => {
    const store = memoryStore({ clock })
    await leave(store, numbered(60))
    const { publisher } = publishing(store, {
      'run.failed': ({ run }) => {
        if (Number(run.runId.slice(1)) % 20 > 0) throw new Error('no')
        return undefined
      },
    })
    expect(await publisher.publishPending()).toBe(60)
    expect(await pending(store)).toHaveLength(57)
  })

  it('publishPending takes at most 1,000 runs a call', async () => {
    const store = memoryStore({ clock })
    await leave(store, numbered(1_001))
    const { publisher } = publishing(store, { 'run.failed': () => undefined })
    expect(await publisher.publishPending()).toBe(1_000)
    expect(await publisher.publishPending()).toBe(1)
    expect(await pending(store)).toEqual([])
  })

  it('publishPending stops between pages when mayGoOn is false, and continues there', async () => {
    const store = memoryStore({ clock })
    await leave(store, numbered(30))
    const { publisher, keys } = publishing(store, { 'run.failed': () => ({ recipient: 'jane' }) })
    let pages = 0
    expect(await publisher.publishPending(() => false)).toBe(0)
    expect(await publisher.publishPending(() => pages++ < 1)).toBe(20)
    expect(await publisher.publishPending()).toBe(10)
    expect(keys).toHaveLength(30)
  })

  it('publishPending starts again after the store failed', async () => {
    const store = memoryStore({ clock })
    await leave(store, numbered(30))
    let isDown = false
    const listRuns: Store['listRuns'] = (query) => (isDown ? Promise.reject(new Error('down')) : store.listRuns(query))
    const { publisher } = publishing(
      { ...store, listRuns },
      {
        'run.failed': () => {
          throw new Error('no')
        },
      },
    )
    expect(await publisher.publishPending()).toBe(20)
    isDown = true
    await expect(publisher.publishPending()).rejects.toThrow('down')
    isDown = false
    expect(await publisher.publishPending()).toBe(20)
  })

  it('publishPending leaves the signals of other hosts pending', async () => {
    const store = memoryStore({ clock })
    await leave(store, ['r1'], ['failed', 'budget'])
    await leave(store, ['r2'], ['budget'])
    const { publisher, keys } = publishing(store, { 'run.failed': () => ({ recipient: 'jane' }) })
    await publisher.publishPending()
    expect(keys).toEqual(['run.failed jane: run.failed s1 r1 0'])
    expect([...(await pending(store))].sort()).toEqual(['r1 budget', 'r2 budget'])
  })
})

describe('publish', () => {
  it('`publish` does nothing for signals that this host does not publish', async () => {
    const store = memoryStore({ clock })
    await leave(store, ['r1'], ['budget'])
    await leave(store, ['r2'])
    const { publisher, background } = publishing(store, { 'run.failed': () => undefined })
    const [first, second] = (await store.listRuns({ limit: 2 })).items
    if (first) publisher.publish(first)
    expect(background).toHaveLength(0)
    if (second) publisher.publish(second)
    expect(background).toHaveLength(1)
    await Promise.all(background)
    expect(await pending(store)).toEqual(['r1 budget'])
  })

  it('publishPending removes signals of absent plugins a week after the last change of their run, with one log line', async () => {
    const store = memoryStore({ clock })
    await leave(store, ['r1', 'r2'], ['budget'])
    let now = 7 * 86_400_000
    const { publisher, logger } = publishing(store, { 'run.failed': () => undefined }, () => now)
    await publisher.publishPending()
    expect([...(await pending(store))].sort()).toEqual(['r1 budget', 'r2 budget'])
    now++
    await leave(store, ['r3'], ['failed'])
    await publisher.publishPending()
    expect(await pending(store)).toEqual([])
    expect(logger.lines).toMatchObject([{ event: 'run.signals_dropped', fields: { detail: '2 of budget' } }])
  })

  it('publishPending keeps a signal of an absent plugin whose run changes meanwhile', async () => {
    const store = memoryStore({ clock })
    await leave(store, ['r1'], ['budget'])
    const rules = { tenant: 'default', now: 8 * 86_400_000, signals: raising('budget') }
    const update = { sessionId: 's1', runId: 'r1', counts: { inputTokens: 2 } } as const
    const listRuns: Store['listRuns'] = async (query) => {
      const page = await store.listRuns(query)
      await store.mergeRun({ ...rules, sessionId: 's1', runId: 'r1' }, (snapshot) =>
        decideMerge(snapshot, update, rules),
      )
      return page
    }
    const { publisher } = publishing({ ...store, listRuns }, { 'run.failed': () => undefined }, () => rules.now)
    await publisher.publishPending()
    expect(await pending(store)).toEqual(['r1 budget'])
  })
})
