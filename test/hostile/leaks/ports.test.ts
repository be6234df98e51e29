import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ErrorDetails } from '../../../src/core/answers/report-fault.ts'
import { openTestApp, type TestApp } from './test-app.ts'
import { throughTime } from './through-time.ts'
import { THROWN } from './thrown.ts'

/** A request that calls each part of a host. */
const ASKED: Readonly<Record<string, (app: TestApp) => Promise<unknown>>> = {
  auth: (app) => dispatch(app),
  store: (app) => dispatch(app),
  recipients: (app) => dispatch(app),
  policy: (app) => dispatch(app),
  rateLimiter: (app) => dispatch(app),
  queue: (app) => dispatch(app),
  hook: (app) => dispatch(app),
  condition: (app) => dispatch(app),
  template: (app) => dispatch(app),
  schema: (app) => dispatch(app, 'refined'),
  'digest key': (app) => dispatch(app, 'digested'),
  redactor: (app) => record(app),
  prices: (app) => record(app),
  exporter: (app) => record(app),
}

/** Parts that a worker calls once an event was accepted. */
const WORKED: readonly string[] = [
  ...['channel', 'store', 'store.claim', 'store.settle', 'store.renew', 'policy', 'recipients', 'queue', 'hook'],
  ...['schema', 'template', 'digest key', 'store.listRuns', 'store.mergeRun'],
]

function dispatch({ post }: TestApp, eventType = 'order'): Promise<unknown> {
  return post('dispatch', { body: { eventType, recipient: 'u-1', eventData: { note: 'plain' } } })
}

function record({ post, clock }: TestApp): Promise<unknown> {
  const run = { status: 'failed', error: { type: 'Bad' }, model: 'm', tags: ['t'], counts: { inputTokens: 1 } }
  return post('session_run', { body: { sessionId: 's', run: { runId: `r${clock.now()}`, ...run } } })
}

/** Makes every call that a host can make; the host may see results and errors. */
async function callAll(app: TestApp): Promise<void> {
  const { sallyport, collected, clock } = app
  const { worker, dispatches, runs, sessions } = sallyport
  const calls: readonly (() => Promise<unknown>)[] = [
    () => worker.runDue(),
    () => dispatches.list(),
    () => dispatches.get('dsp_1'),
    () => dispatches.cancel('dsp_1'),
    () => dispatches.retry('dsp_1'),
    () => dispatches.prune({ olderThan: 1 }),
    () => runs.list(),
    () => runs.get({ sessionId: 's1', runId: 'r' }),
    () => runs.sweepStale({ olderThan: 1_000 }),
    () => runs.prune({ olderThan: 1 }),
    () => sessions.get('s'),
    () => sallyport.dispatch({ eventType: 'order', recipient: 'u-1', eventData: { note: 'plain' } }),
  ]
  for (const call of [...calls, async () => worker.start()]) await throughTime(app, call(), 20).then(keep, keep)
  clock.advance(61_000)
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  await throughTime(app, worker.stop({ graceMs: 0 }), 20)

  function keep(given: unknown): void {
    collected.keep('call', given)
  }
}

/** Functions of the host: the log may hold their messages. */
const OWN: readonly string[] = ['hook', 'condition', 'template', 'digest key']

/** Kind of what a part throws: `none` hides everything, and with `full` the log may hold all. */
function kindOf(part: string, details: ErrorDetails = 'default'): string {
  const isOpen = details === 'full' || (details === 'default' && OWN.includes(part))
  return isOpen ? "error of the host's code" : 'error of a port'
}

async function askAll(app: TestApp, thrown: (secret: string) => unknown, details?: ErrorDetails): Promise<void> {
  for (const [part, ask] of Object.entries(ASKED)) {
    app.faults.set(part, thrown(app.canaries.word(kindOf(part, details))))
    await ask(app)
    app.faults.clear()
  }
}

describe.each<ErrorDetails>(['default', 'full', 'none'])('errorDetails %s', (errorDetails) => {
  const throwEverywhere = THROWN['an error that holds it everywhere'] as (secret: string) => unknown

  it('The log shows an error as errorDetails allows, and no answer shows it', async () => {
    const reported: unknown[] = []
    const hooks = { onError: (...args: unknown[]) => reported.push(args) }
    const app = await openTestApp({ rest: { errorDetails, hooks } })
    await askAll(app, throwEverywhere, errorDetails)
    await throughTime(app, app.sallyport.worker.runDue(), 20)
    const isSeen = app.collected.seen.has("error of the host's code: log")
    expect([isSeen, app.collected.seen.has('error of a port: log')]).toEqual([errorDetails !== 'none', false])
    expect(reported.length).toBeGreaterThan(10)
  })
})

describe.each(Object.entries(THROWN))('%s', (_, thrown) => {
  it("No answer shows what a port or the host's code throws", async () => {
    await askAll(await openTestApp(), thrown)
  })

  it('Only the host sees what a worker or a call throws', async () => {
    const app = await openTestApp()
    for (const part of WORKED) {
      for (const eventType of ['order', 'digested', 'first']) await dispatch(app, eventType)
      await record(app)
      app.clock.advance(120_000)
      app.faults.set(part, thrown(app.canaries.word(kindOf(part))))
      await callAll(app)
      app.faults.clear()
    }
    const logged = ['worker.claim_failed', 'delivery.settle_failed', 'hook.threw', 'request.failed']
    expect([...app.collected.events]).toEqual(expect.arrayContaining(logged))
  })
})
