import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { RunEventFacts, RunEvents } from '../../../src/plugins/alerts/run-events.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { AGENT, APPLICATION, logged, pending, postRun, reported, turns } from '../../compose/run-host.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc, runs } from '../../support/properties.ts'
import { mailOf, mortal, reportAll, runTestApp } from './publishing.ts'

const MINUTE = 60_000

describe('events of a run that ends', () => {
  it('The end of a run dispatches its event with the stored run, in its session', async () => {
    const { sallyport, store } = runTestApp()
    await postRun(sallyport, { runId: 'r1', status: 'failed', error: { type: 'timeout' }, counts: { inputTokens: 3 } })
    await sallyport.worker.runDue()
    const { items } = await store.listDispatches({ tenant: 'default', sessionId: 's1', limit: 10 })
    expect(items).toMatchObject([{ eventType: 'run.failed', recipient: 'r1@example.com', sessionId: 's1' }])
    expect(items[0]?.deliveries[0]?.content).toEqual({
      data: { run: await sallyport.runs.get({ sessionId: 's1', runId: 'r1' }) },
    })
  })

  it('The event of an end is published in the background', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const { sallyport } = runTestApp({ clock, store: { ...store, listRuns: () => Promise.reject(new Error('down')) } })
    await postRun(sallyport, { runId: 'r1', status: 'completed' })
    await sallyport.endpoints.deliver()
    expect(await reported(store)).toEqual(['run.completed r1@example.com'])
    expect(await pending(store)).toEqual([])
  })

  it('The host chooses the recipient, the data and the channel of an event', async () => {
    const asked: RunEventFacts[] = []
    const runEvents: RunEvents = {
      'run.failed': async (facts) => {
        asked.push(facts)
        return { recipient: 'jane@example.com', eventData: { why: facts.run.error?.type ?? '' }, channel: 'b' }
      },
    }
    const { sallyport, store, ...app } = runTestApp({ runEvents })
    await postRun(sallyport, { runId: 'r1', status: 'failed', error: { type: 'oom' } }, { id: 'x', tenant: 't2' })
    await sallyport.worker.runDue()
    expect(asked).toMatchObject([{ tenant: 't2', run: { runId: 'r1', status: 'failed', error: { type: 'oom' } } }])
    expect(await reported(store, 't2')).toEqual([])
    const through = 'The event can be sent through a.'
    expect(logged(app, 'run_event.refused')).toEqual([
      {
        eventType: 'run.failed',
        runId: 'r1',
        code: 'channel_not_allowed',
        detail: through,
        errors: `/channel: ${through}`,
      },
    ])
  })

  it('Runs with one id in two tenants both have events', async () => {
    const { sallyport, store } = runTestApp()
    for (const tenant of ['default', 't2'])
      await postRun(sallyport, { runId: 'r1', status: 'failed' }, { id: 'x', tenant })
    await sallyport.worker.runDue()
    expect([await reported(store), await reported(store, 't2')]).toEqual([
      ['run.failed r1@example.com'],
      ['run.failed r1@example.com'],
    ])
  })

  it('Publishing an event changes neither revision nor lastSeenAt of the run', async () => {
    const { sallyport, clock } = runTestApp()
    const { run } = await postRun(sallyport, { runId: 'r1', status: 'failed' })
    clock.advance(MINUTE)
    await sallyport.worker.runDue()
    expect(await sallyport.runs.get({ sessionId: 's1', runId: 'r1' })).toEqual(run)
  })

  it('Publishing an event keeps the other derived data of the run', async () => {
    const { sallyport, store } = runTestApp()
    await postRun(sallyport, { runId: 'r1', status: 'completed', seq: 1 })
    await postRun(sallyport, { runId: 'r1', status: 'failed', seq: 2 })
    await sallyport.worker.runDue()
    expect((await store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' }))?.derived).toMatchObject({
      ended: ['completed', 'failed'],
      pending: [],
    })
  })

  it('An event without a target is not dispatched, and is done', async () => {
    let asked = 0
    const runEvents: RunEvents = { 'run.failed': () => void asked++ }
    const { sallyport, store } = runTestApp({ runEvents })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await sallyport.worker.runDue()
    await sallyport.worker.runDue()
    expect([asked, await reported(store), await pending(store)]).toEqual([1, [], []])
  })

  it.each(['erased', 'pruned'])('A run that was %s and is recorded again has new events', async (how) => {
    const { sallyport, store, clock } = runTestApp()
    const once = ['run.failed r1@example.com']
    for (let time = 0; time < 2; time++) {
      await postRun(sallyport, { runId: 'r1', status: 'failed' })
      await sallyport.worker.runDue()
      expect(await reported(store)).toEqual([...once, ...(time === 1 ? once : [])])
      clock.advance(MINUTE)
      if (how === 'erased') await sallyport.runs.erase({ sessionId: 's1' })
      else await sallyport.runs.prune({ olderThan: 1 })
    }
  })

  it('A host without run events leaves nothing pending', async () => {
    const { sallyport, store } = runTestApp({ runEvents: { 'run.failed': undefined } as never })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    expect(await pending(store)).toEqual([])
  })

  it('An idempotency key of a caller does not collide with that of an event', async () => {
    const { sallyport, store } = runTestApp()
    for (const idempotencyKey of ['run.failed', 'run.failed_r1', 'r1']) {
      const event = { eventType: 'order.shipped', recipient: 'jane@example.com' } as const
      expect(await sallyport.dispatch(event as never, { idempotencyKey })).toMatchObject({ ok: true })
    }
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await sallyport.worker.runDue()
    expect(await reported(store)).toContain('run.failed r1@example.com')
  })
})

describe('events in any order of posts', () => {
  const post = fc.record(
    {
      status: fc.constantFrom('running', 'waiting', 'completed', 'failed', 'cancelled'),
      seq: fc.nat(3),
      counts: fc.record({ inputTokens: fc.nat(3) }),
    },
    { requiredKeys: [] },
  )
  const posts = fc.array(
    fc.record({ post, principal: fc.constantFrom(APPLICATION, AGENT), runId: fc.constantFrom('r1', 'r2') }),
    { minLength: 1, maxLength: 8 },
  )

  it('Each end that a run reaches is published once', async () => {
    await fc.assert(
      fc.asyncProperty(posts, fc.constantFrom('one by one', 'at once'), fc.nat(3), async (given, how, dues) => {
        const clock = fakeClock()
        const store = memoryStore({ clock })
        const apps = [runTestApp({ clock, store }), runTestApp({ clock, store })]
        const record = async ({ post, principal, runId }: (typeof given)[number], index: number): Promise<void> => {
          await postRun(apps[index % 2]?.sallyport as never, { ...post, runId }, principal)
          if (index % 4 < dues) await apps[index % 2]?.sallyport.worker.runDue()
        }
        if (how === 'at once') await Promise.all(given.map(record))
        else for (const [index, each] of given.entries()) await record(each, index)
        await Promise.all(apps.map(({ sallyport }) => sallyport.worker.runDue()))
        const { items } = await store.listRuns({ limit: 9 })
        const ends = items.flatMap(({ state: { runId }, derived }) =>
          derived.ended.map((end) => `run.${end.replace('agent:', '')} ${runId}@example.com`),
        )
        expect(await reported(store)).toEqual(ends.sort())
        expect(await pending(store)).toEqual([])
      }),
      { numRuns: runs(50) },
    )
  })

  it('A run that ends after it expired has both events', async () => {
    const { sallyport, store, clock } = runTestApp()
    await postRun(sallyport, { runId: 'r1', status: 'running' })
    clock.advance(2 * MINUTE)
    expect(await sallyport.runs.sweepStale({ olderThan: MINUTE })).toEqual({ expired: 1 })
    expect(await sallyport.runs.sweepStale({ olderThan: MINUTE })).toEqual({ expired: 0 })
    await postRun(sallyport, { runId: 'r1', status: 'completed' })
    await postRun(sallyport, { runId: 'r1', status: 'completed' })
    await postRun(sallyport, { runId: 'r1', status: 'running' })
    await sallyport.worker.runDue()
    expect(await reported(store)).toEqual(['run.completed r1@example.com', 'run.expired r1@example.com'])
  })
})

describe('events after a crash', () => {
  const POSTS = [
    { runId: 'r1', status: 'running' },
    { runId: 'r1', status: 'completed', seq: 1 },
    { runId: 'r1', status: 'failed', seq: 2 },
    { runId: 'r2', status: 'cancelled' },
  ]
  const ALL = ['run.cancelled r2@example.com', 'run.completed r1@example.com', 'run.failed r1@example.com']

  /** Posts everything, again with the next host after a crash; gives the number of store calls of the first host. */
  async function live(diesAt: number, at: 'before' | 'after', when: 'each' | 'last') {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    let calls = 0
    const counted = mortal(store, (_, moment) => moment === at && ++calls === diesAt)
    // Nothing is sent: a crashed worker would wait for its store.
    const first = runTestApp({ clock, store: counted, sandbox: true }).sallyport
    const next = runTestApp({ clock, store, sandbox: true }).sallyport
    for (const post of POSTS) {
      await postRun(first, post).catch(() => postRun(next, post))
      if (when === 'each') await first.endpoints.deliver()
    }
    await first.endpoints.deliver()
    const before = await reported(store)
    await next.worker.runDue()
    return { calls, before, after: await reported(store), left: await pending(store) }
  }

  it.each([
    ['before', 'each'],
    ['before', 'last'],
    ['after', 'each'],
    ['after', 'last'],
  ] as const)(
    'After a crash %s a call (%s published), the next host publishes the rest, and nothing twice',
    async (at, when) => {
      const { calls, before } = await live(0, at, when)
      expect(before).toEqual(ALL)
      const missing = new Set<number>()
      for (let diesAt = 1; diesAt <= calls; diesAt++) {
        const { before, after, left } = await live(diesAt, at, when)
        expect({ diesAt, after, left }).toEqual({ diesAt, after: ALL, left: [] })
        missing.add(ALL.length - before.length)
      }
      expect(missing.size).toBeGreaterThan(1)
    },
  )

  it('Several hosts that follow a crash at once publish each event once', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const mute = runTestApp({ clock, store: { ...store, findRun: () => Promise.reject(new Error('down')) } }).sallyport
    for (const runId of ['r1', 'r2', 'r3']) await postRun(mute, { runId, status: 'failed' })
    await turns()
    expect(await reported(store)).toEqual([])
    const next = Array.from({ length: 4 }, () => runTestApp({ clock, store }).sallyport)
    await Promise.all([...next, ...next].map(({ worker }) => worker.runDue()))
    expect(await reported(store)).toEqual(['r1', 'r2', 'r3'].map((id) => `run.failed ${id}@example.com`))
    expect(await pending(store)).toEqual([])
  })
})

describe('events that cannot be dispatched', () => {
  const toJane: RunEvents = { 'run.failed': () => ({ recipient: 'jane' }), 'run.incomplete': mailOf }

  it('An event is dispatched once the directory is up again', async () => {
    let isDown = true
    const recipients = {
      async find(id: string) {
        if (isDown) throw new Error('down')
        return { id, email: 'jane@example.com' }
      },
    }
    const { sallyport, store, ...app } = runTestApp({ runEvents: toJane, recipients })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await sallyport.worker.runDue()
    expect([await reported(store), await pending(store)]).toEqual([[], ['r1 failed']])
    const line = { eventType: 'run.failed', runId: 'r1', code: 'directory_unavailable' }
    expect(logged(app, 'run_event.failed')).toEqual([line, line])
    isDown = false
    await sallyport.worker.runDue()
    await sallyport.worker.runDue()
    expect([await reported(store), await pending(store)]).toEqual([['run.failed jane'], []])
    expect(logged(app, 'run_event.failed')).toHaveLength(2)
  })

  it('An unknown recipient or unfit data is logged once, and not tried again', async () => {
    const recipients = { find: async () => undefined }
    const { sallyport, store, ...app } = runTestApp({ runEvents: toJane, recipients })
    await postRun(sallyport, { runId: 'r1', status: 'failed', userId: 'jane' })
    await postRun(sallyport, { runId: 'r2', status: 'incomplete' })
    await sallyport.worker.runDue()
    await sallyport.worker.runDue()
    expect([await reported(store), await pending(store)]).toEqual([[], []])
    const nobody = 'No recipient has this id.'
    expect(logged(app, 'run_event.refused')).toEqual([
      {
        eventType: 'run.failed',
        runId: 'r1',
        code: 'recipient_unresolvable',
        detail: nobody,
        errors: `/recipient: ${nobody}`,
      },
      {
        eventType: 'run.incomplete',
        runId: 'r2',
        code: 'validation_failed',
        detail: 'One place in the body cannot be accepted.',
        errors: '/eventData/x: is required',
      },
    ])
    expect(JSON.stringify(app.logger.lines)).not.toContain('jane')
  })

  it('A refused event is logged with at most ten short pointers and no values', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `${index}${'n'.repeat(300)}`)
    const catalog = defineEvents({
      'run.failed': {
        data: v.object(Object.fromEntries(names.map((name) => [name, v.string()]))),
        channels: { a: {} },
      },
    })
    const eventData = Object.fromEntries(names.map((name) => [name, 4242]))
    const runEvents: RunEvents = { 'run.failed': () => ({ recipient: 'jane@example.com', eventData }) }
    const { sallyport, ...app } = runTestApp({ events: catalog, runEvents })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await sallyport.worker.runDue()
    const [line, ...more] = logged(app, 'run_event.refused') as { errors: string }[]
    expect(more).toEqual([])
    const places = line?.errors.split(', ') ?? []
    expect(places.map((place) => place.replace(/n{100,}/, '…'))).toEqual(
      names.slice(0, 10).map((_, index) => `/eventData/${index}…: expected string`),
    )
    expect(Math.max(...places.map(({ length }) => length))).toBeLessThan(240)
    expect(line?.errors).not.toContain('4242')
  })

  it.each([false, 0, '', 'jane@example.com', [], {}, { recipient: 5 }, { recipient: undefined }, { recipient: null }])(
    'The invalid target %j is never dispatched, and not tried again',
    async (target) => {
      const runEvents = { 'run.failed': () => target } as never
      const { sallyport, store, ...app } = runTestApp({ runEvents })
      await postRun(sallyport, { runId: 'r1', status: 'failed' })
      await sallyport.worker.runDue()
      expect(logged(app, 'run_event.refused')).toEqual([
        { eventType: 'run.failed', runId: 'r1', code: 'target_invalid', detail: expect.stringContaining(' returned ') },
      ])
      expect(logged(app, 'run_event.failed')).toEqual([])
      expect([await reported(store), await pending(store)]).toEqual([[], []])
    },
  )

  it('Pruning spares a run until its events are published', async () => {
    let isBroken = true
    const runEvents: RunEvents = {
      'run.failed': (facts) => {
        if (isBroken) throw new Error('no')
        return mailOf(facts)
      },
    }
    const { sallyport, store, clock } = runTestApp({ runEvents })
    for (const runId of ['r1', 'r2']) await postRun(sallyport, { runId, status: 'failed' })
    await postRun(sallyport, { runId: 'r3', status: 'completed' })
    await sallyport.worker.runDue()
    clock.advance(MINUTE)
    expect(await sallyport.runs.prune({ olderThan: 1 })).toEqual({ pruned: 1 })
    expect(await pending(store)).toEqual(['r1 failed', 'r2 failed'])
    isBroken = false
    await sallyport.worker.runDue()
    expect(await reported(store)).toEqual(['run.failed r1@example.com', 'run.failed r2@example.com'])
    expect(await sallyport.runs.prune({ olderThan: 1 })).toEqual({ pruned: 2 })
  })

  it('A host function that throws is called again and does not delay other events', async () => {
    let isBroken = true
    const runEvents: RunEvents = {
      ...reportAll,
      'run.expired': (facts) => {
        if (isBroken) throw new TypeError('jane@example.com is unknown')
        return mailOf(facts)
      },
    }
    const { sallyport, store, clock, ...app } = runTestApp({ runEvents })
    await postRun(sallyport, { runId: 'r1', status: 'running' })
    clock.advance(2 * MINUTE)
    await sallyport.runs.sweepStale({ olderThan: MINUTE })
    await postRun(sallyport, { runId: 'r1', status: 'completed' })
    await sallyport.worker.runDue()
    expect([await reported(store), await pending(store)]).toEqual([['run.completed r1@example.com'], ['r1 expired']])
    expect(logged(app, 'run_event.failed')[0]).toMatchObject({
      ...{ eventType: 'run.expired', runId: 'r1', cause: 'TypeError' },
      ...{ message: 'jane@example.com is unknown', stack: expect.any(String) },
    })
    isBroken = false
    await sallyport.worker.runDue()
    expect(await reported(store)).toEqual(['run.completed r1@example.com', 'run.expired r1@example.com'])
    expect(await pending(store)).toEqual([])
  })

  it('An event that times out is tried again, and a late answer is not dispatched twice', async () => {
    const answers: ((target: ReturnType<typeof mailOf>) => void)[] = []
    const runEvents: RunEvents = { 'run.failed': () => new Promise((resolve) => answers.push(resolve)) }
    const { sallyport, store, clock, ...app } = runTestApp({ runEvents })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await turns()
    clock.advance(9_999)
    await turns()
    expect(logged(app, 'run_event.failed')).toEqual([])
    clock.advance(1)
    await turns()
    expect(logged(app, 'run_event.failed')).toEqual([
      { eventType: 'run.failed', runId: 'r1', cause: 'no answer in time' },
    ])
    expect(await pending(store)).toEqual(['r1 failed'])
    const due = sallyport.worker.runDue()
    await turns()
    expect(answers).toHaveLength(2)
    for (const answer of answers.reverse()) answer({ recipient: 'r1@example.com' })
    await due
    await turns()
    expect([await reported(store), await pending(store)]).toEqual([['run.failed r1@example.com'], []])
  })

  it('The pending events of an erased run are gone', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const runEvents: RunEvents = {
      'run.failed': async (facts) => {
        await store.erase('default', { sessionId: 's1' })
        return mailOf(facts)
      },
    }
    const { sallyport } = runTestApp({ clock, store, runEvents })
    await postRun(sallyport, { runId: 'r1', status: 'failed' })
    await sallyport.worker.runDue()
    expect((await store.listRuns({ limit: 10 })).items).toEqual([])
    expect(await store.findSession('default', 's1')).toBeUndefined()
  })
})
