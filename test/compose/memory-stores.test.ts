import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { documentStore } from '../../src/storage/documents/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { composed } from './composed.ts'

const events = defineEvents({ e: { channels: { a: { text: () => 'x' } } } })

function within(nodeEnv: string | undefined): void {
  vi.stubEnv('NODE_ENV', nodeEnv)
  onTestFinished(() => void vi.unstubAllEnvs())
}

/** Starts the worker of a Sallyport, until the test ends, and returns its warnings of the store. */
function startWith(store = memoryStore()) {
  const { sallyport, logger } = composed(events, { store })
  sallyport.worker.start()
  onTestFinished(() => sallyport.stop())
  return { sallyport, warnings: () => logger.lines.filter(({ event }) => event === 'store.in_memory') }
}

const IN_PRODUCTION = { level: 'warn', fields: { detail: expect.stringContaining('NODE_ENV is production') } }
const SECOND = { level: 'warn', fields: { detail: expect.stringContaining('another store in memory') } }

describe('a memoryStore in production', () => {
  it('A Sallyport on a memoryStore, or on a copy with own methods, warns once', () => {
    within('production')
    const copy = { ...memoryStore() }
    for (const store of [memoryStore(), copy]) {
      const { sallyport, logger } = composed(events, { store })
      expect(logger.lines).toMatchObject([{ event: 'store.in_memory', ...IN_PRODUCTION }])
      expect(sallyport.store).toBe(store)
    }
  })

  it('A Sallyport that only records runs warns too', () => {
    within('production')
    const logger = recordingLogger()
    createSallyport({ auth: testAuth, store: memoryStore(), logger })
    expect(logger.lines).toMatchObject([{ event: 'store.in_memory' }])
  })

  it('Another store does not warn', () => {
    within('production')
    const fail = () => Promise.reject(new Error('down'))
    const { logger } = composed(events, { store: documentStore({ now: fail, get: fail, list: fail, commit: fail }) })
    expect(logger.lines).toEqual([])
  })

  it.each(['test', 'development', undefined])('Where NODE_ENV is %s, nothing is logged at the start', (env) => {
    within(env)
    expect(startWith().warnings()).toEqual([])
  })
})

describe('a second memoryStore in a process', () => {
  it('The second worker on another memoryStore warns, and the first does not', () => {
    within(undefined)
    const [first, second] = [startWith(), startWith()]
    expect(first.warnings()).toEqual([])
    expect(second.warnings()).toMatchObject([SECOND])
    second.sallyport.worker.start()
    expect(second.warnings()).toHaveLength(1)
  })

  it('Workers on the same memoryStore do not warn', () => {
    within(undefined)
    const store = memoryStore()
    expect([startWith(store), startWith(store)].flatMap(({ warnings }) => warnings())).toEqual([])
  })

  it('A worker that starts after the first one was stopped does not warn', async () => {
    within(undefined)
    await startWith().sallyport.stop()
    expect(startWith().warnings()).toEqual([])
  })

  it('Where NODE_ENV is test, no second worker warns', () => {
    within('test')
    expect([startWith(), startWith()].flatMap(({ warnings }) => warnings())).toEqual([])
  })
})
