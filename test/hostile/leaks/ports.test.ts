import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type House, openHouse } from './house.ts'
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

describe.each(Object.entries(THROWN))('%s', (_, thrown) => {
  it('is told to nobody by a request, whatever part of a host threw it', async () => {
    const house = await openHouse()
    for (const [part, ask] of Object.entries(ASKED)) {
      house.faults.set(part, thrown(house.canaries.word('what was thrown')))
      await ask(house)
      house.faults.clear()
    }
  })

  it('is told to the host alone by a worker and by calls, whatever part of a host threw it', async () => {
    const house = await openHouse()
    for (const part of WORKED) {
      for (const eventType of ['order', 'digested', 'first']) await dispatch(house, eventType)
      await record(house)
      house.clock.advance(120_000)
      house.faults.set(part, thrown(house.canaries.word('what was thrown')))
      await callAll(house)
      house.faults.clear()
    }
    const told = ['worker.claim_failed', 'delivery.settle_failed', 'hook.threw', 'request.failed']
    expect([...house.collected.events]).toEqual(expect.arrayContaining(told))
  })
})
