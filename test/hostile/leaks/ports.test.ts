import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ErrorDetails } from '../../../src/core/answers/report-fault.ts'
import { type House, openHouse } from './test-app.ts'
import { throughTime } from './through-time.ts'
import { THROWN } from './thrown.ts'

/** What each part of a host is asked for by a request. */
const ASKED: Readonly<Record<string, (house: House) => Promise<unknown>>> = {
  auth: (house) => dispatch(house),
  store: (house) => dispatch(house),
  recipients: (house) => dispatch(house),
  policy: (house) => dispatch(house),
  rateLimiter: (house) => dispatch(house),
  queue: (house) => dispatch(house),
  hook: (house) => dispatch(house),
  condition: (house) => dispatch(house),
  template: (house) => dispatch(house),
  schema: (house) => dispatch(house, 'refined'),
  'digest key': (house) => dispatch(house, 'digested'),
  redactor: (house) => record(house),
  prices: (house) => record(house),
  exporter: (house) => record(house),
  'run event': (house) => record(house),
}

/** And by a worker, once an event was accepted. */
const WORKED: readonly string[] = [
  ...['channel', 'store', 'store.claim', 'store.settle', 'store.renew', 'policy', 'recipients', 'queue', 'hook'],
  ...['schema', 'template', 'digest key', 'store.listRuns', 'store.mergeRun'],
]

function dispatch({ post }: House, eventType = 'order'): Promise<unknown> {
  return post('dispatch', { body: { eventType, recipient: 'u-1', eventData: { note: 'plain' } } })
}

function record({ post, clock }: House): Promise<unknown> {
  const run = { status: 'failed', error: { type: 'Bad' }, model: 'm', tags: ['t'], counts: { inputTokens: 1 } }
  return post('session_run', { body: { sessionId: 's', run: { runId: `r${clock.now()}`, ...run } } })
}

/** Everything that a host can ask for by itself; what it gets or is thrown is its own. */
async function callAll(house: House): Promise<void> {
  const { sallyport, collected, clock } = house
  const { worker, dispatches, runs, sessions, budgets } = sallyport
  const calls: readonly (() => Promise<unknown>)[] = [
    () => worker.runDue(),
    () => dispatches.list(),
    () => dispatches.get('dsp_1'),
    () => dispatches.cancel('dsp_1'),
    () => dispatches.retry('dsp_1'),
    () => dispatches.prune({ olderThan: 1 }),
    () => runs.list(),
    () => runs.get('r'),
    () => runs.sweepStale({ olderThan: 1_000 }),
    () => runs.prune({ olderThan: 1 }),
    () => sessions.get('s'),
    () => budgets.check({ userId: 'u' }),
    () => sallyport.dispatch({ eventType: 'order', recipient: 'u-1', eventData: { note: 'plain' } }),
  ]
  for (const call of [...calls, async () => worker.start()]) await throughTime(house, call(), 20).then(keep, keep)
  clock.advance(61_000)
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  await throughTime(house, worker.stop({ graceMs: 0 }), 20)

  function keep(given: unknown): void {
    collected.keep('call', given)
  }
}

/** Functions of the host's own: the log may hold their messages. */
const OWN: readonly string[] = ['hook', 'condition', 'template', 'digest key', 'run event']

/** Who may see what a part throws: `none` lets nobody, and with `full` the log may hold all. */
function kindOf(part: string, details: ErrorDetails = 'default'): string {
  const isOpen = details === 'full' || (details === 'default' && OWN.includes(part))
  return isOpen ? 'what own code threw' : 'what a port threw'
}

async function askAll(house: House, thrown: (secret: string) => unknown, details?: ErrorDetails): Promise<void> {
  for (const [part, ask] of Object.entries(ASKED)) {
    house.faults.set(part, thrown(house.canaries.word(kindOf(part, details))))
    await ask(house)
    house.faults.clear()
  }
}

describe.each<ErrorDetails>(['default', 'full', 'none'])('an error, with errorDetails %s,', (errorDetails) => {
  const says = THROWN['an error that says it everywhere'] as (secret: string) => unknown

  it('is in the log as far as that says, and in no answer', async () => {
    const reported: unknown[] = []
    const hooks = { onError: (...args: unknown[]) => reported.push(args) }
    const house = await openHouse({ rest: { errorDetails, hooks } })
    await askAll(house, says, errorDetails)
    await throughTime(house, house.sallyport.worker.runDue(), 20)
    const isSeen = house.collected.seen.has('what own code threw: log')
    expect([isSeen, house.collected.seen.has('what a port threw: log')]).toEqual([errorDetails !== 'none', false])
    expect(reported.length).toBeGreaterThan(10)
  })
})

describe.each(Object.entries(THROWN))('%s', (_, thrown) => {
  it('is told to nobody by a request, whatever port threw it, and to the log alone, if own code did', async () => {
    await askAll(await openHouse(), thrown)
  })

  it('is told to the host alone by a worker and by calls, whatever part of a host threw it', async () => {
    const house = await openHouse()
    for (const part of WORKED) {
      for (const eventType of ['order', 'digested', 'first']) await dispatch(house, eventType)
      await record(house)
      house.clock.advance(120_000)
      house.faults.set(part, thrown(house.canaries.word(kindOf(part))))
      await callAll(house)
      house.faults.clear()
    }
    const told = ['worker.claim_failed', 'delivery.settle_failed', 'hook.threw', 'request.failed']
    expect([...house.collected.events]).toEqual(expect.arrayContaining(told))
  })
})
