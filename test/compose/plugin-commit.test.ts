import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { Measurement } from '../../src/model/measurement.ts'
import { type KindRecords, recordsOf } from '../../src/plugins/kind-records.ts'
import type { Plugin, PluginCore, PluginDispatchOptions, PreparedDispatch } from '../../src/plugins/plugin.ts'
import type { PluginRecord, RecordChange } from '../../src/ports/record-store.ts'
import type { SallyportStore } from '../../src/ports/sallyport-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { composed } from './composed.ts'

const ADA = 'ada@example.com'
const EVENT = { eventType: 'e', recipient: ADA } as const
const TENANT = 'default'

const events = defineEvents({
  e: { channels: { a: { text: () => 'hello' }, b: { when: () => false } } },
  f: {
    data: {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({ issues: [{ message: 'is wrong', path: ['total'] }] }),
      },
    },
    channels: { a: {} },
  },
})

interface Note {
  readonly text: string
}

/** A host with a plugin that plans and commits. */
function host(
  more: Omit<Partial<SallyportOptions<unknown>>, 'clock'> & {
    readonly change?: (store: SallyportStore) => object
  } = {},
) {
  const held: { core?: PluginCore; notes?: KindRecords<Note> } = {}
  const plugin: Plugin = {
    name: 'own',
    setup(core) {
      Object.assign(held, { core, notes: recordsOf<Note>(core, 'notes') })
      return {}
    },
  }
  const core = (): PluginCore => held.core ?? expect.fail('was not set up')
  const notes = (): KindRecords<Note> => held.notes ?? expect.fail('was not set up')
  const clock = fakeClock()
  const { change = () => ({}), ...rest } = more
  const memory = memoryStore({ clock })
  const store = { ...memory, ...change(memory) }
  const a = recordingChannel()
  const reported: string[] = []
  const measured: Measurement[] = []
  const hooks: SallyportOptions<unknown>['hooks'] = {
    onAccepted: ({ dispatchId }) => void reported.push(`accepted ${dispatchId}`),
    onSkipped: ({ channel }) => void reported.push(`skipped ${channel}`),
    onSent: ({ channel }) => void reported.push(`sent ${channel}`),
    onError: (error) => void reported.push(String(error)),
  }
  const app = composed<unknown>(events, {
    ...{ clock, store, hooks, channels: { a, b: recordingChannel() }, plugins: [plugin] },
    ...rest,
  })
  app.sallyport.onMeasurement((one) => void measured.push(one))
  const planning = async (request: object = EVENT, options?: PluginDispatchOptions) =>
    core().plan?.(TENANT, request as typeof EVENT, options)
  async function plan(options?: PluginDispatchOptions): Promise<PreparedDispatch> {
    const planned = await planning(EVENT, options)
    return planned && 'preview' in planned ? planned : expect.fail(`not planned: ${JSON.stringify(planned)}`)
  }
  const note = async (key: string) => {
    const [found] = await notes().find(TENANT, [key])
    return found
  }
  const statusesOf = async (dispatchId: string): Promise<readonly string[] | undefined> =>
    (await app.sallyport.dispatches.get(dispatchId))?.deliveries.map(({ channel, status }) => `${channel} ${status}`)
  const accepted = async (): Promise<string> => {
    const answer = await app.sallyport.dispatch(EVENT)
    return answer.ok ? answer.body.dispatchId : expect.fail('was not accepted')
  }
  const commit: PluginCore['commit'] = (unit) => core().commit(unit)
  return { ...app, a, store, reported, measured, planning, plan, commit, notes, note, statusesOf, accepted }
}

const QUEUED = ['a queued', 'b skipped']

describe('plan', () => {
  it('It returns the id and the preview of a dry run, stores nothing and sends nothing', async () => {
    const { sallyport, plan, a, reported, measured, logger } = host()
    const deliveries = [
      { channel: 'a', status: 'queued', address: 'a…@example.com', content: { text: 'hello' } },
      { channel: 'b', status: 'skipped', reason: 'condition_false' },
    ]
    const preview = { dryRun: true, status: 'queued', eventType: 'e', warnings: [], deliveries }
    expect(await plan()).toMatchObject({ dispatchId: 'dsp_1', preview })
    await sallyport.worker.runDue()
    expect((await sallyport.dispatches.list()).items).toEqual([])
    expect([a.sent, reported, measured, logger.lines]).toEqual([[], [], [], []])
  })

  it.each<[string, object, number, string]>([
    ['an unknown event', { ...EVENT, eventType: 'other' }, 422, 'event_unknown'],
    ['invalid data', { ...EVENT, eventType: 'f' }, 422, 'validation_failed'],
    ['no recipient', { eventType: 'e' }, 422, 'validation_failed'],
  ])('It returns the problem of %s', async (_, request, status, code) => {
    const { planning, logger } = host()
    expect(await planning(request)).toMatchObject({ ok: false, status, body: { code } })
    expect(logger.lines).toEqual([])
  })

  const down = (): never => {
    throw new Error('down')
  }
  it.each<[string, object, string]>([
    ['the directory', { recipients: { find: down } }, 'directory_unavailable'],
    ['the store', { change: () => ({ recall: down }) }, 'store_unavailable'],
  ])('It returns and logs an error of %s as 503', async (_, more, code) => {
    const { planning, logger, reported } = host(more)
    const answer = await planning({ ...EVENT, recipient: 'user_1' }, { key: 'k' })
    expect(answer).toMatchObject({ ok: false, status: 503, body: { code } })
    expect(logger.lines).toMatchObject([{ event: 'request.failed', fields: { code, cause: 'Error' } }])
    expect(reported).toEqual(['Error: down'])
  })

  it('A key that is committed gives the stored answer, as a duplicate', async () => {
    const { plan, planning, commit } = host()
    const planned = await plan({ key: 'k' })
    await commit({ accept: [planned] })
    expect(await planning({ ...EVENT, eventType: 'other' }, { key: 'k' })).toMatchObject({
      ...{ ok: true, status: 202 },
      body: { dispatchId: planned.dispatchId, duplicate: true },
    })
  })
})

describe('commit', () => {
  it('It stores a dispatch, a record and a cancellation together, and the dispatch is delivered', async () => {
    const { sallyport, plan, commit, notes, note, statusesOf, accepted, a, reported, measured } = host()
    const old = await accepted()
    const planned = await plan()
    reported.length = 0
    measured.length = 0
    const cancel = [old, 'other'].map((dispatchId) => ({ tenant: TENANT, dispatchId }))
    const made = await commit({ accept: [planned], cancel, changes: [notes().insert(TENANT, 'n', { text: 'one' })] })
    const answer = { dispatchId: planned.dispatchId, duplicate: false, status: 'queued' }
    const cancelled = [{ changed: [{ channel: 'a', status: 'cancelled' }] }, undefined]
    expect(made).toMatchObject({ outcome: 'committed', answers: [answer], cancelled })
    expect(await statusesOf(planned.dispatchId)).toEqual(QUEUED)
    expect(await statusesOf(old)).toEqual(['a cancelled', 'b skipped'])
    expect((await note('n'))?.body).toEqual({ text: 'one' })
    await setImmediate()
    expect(reported).toEqual([`accepted ${planned.dispatchId}`, 'skipped b'])
    expect(measured).toMatchObject([{ of: 'accepted' }, { of: 'delivery', channel: 'b', result: 'skipped' }])

    expect(await sallyport.worker.runDue()).toMatchObject({ sent: 1 })
    expect(a.sent).toMatchObject([{ content: { text: 'hello' } }])
    expect(await statusesOf(planned.dispatchId)).toEqual(['a sent', 'b skipped'])
  })

  it('It wakes a worker that has started', async () => {
    const { sallyport, plan, commit, clock, a } = host()
    sallyport.worker.start()
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    await commit({ accept: [await plan()] })
    // No poll is due: the clock stands still.
    for (let turn = 0; turn < 50 && a.sent.length === 0; turn++) {
      await setImmediate()
      clock.advance(0)
    }
    expect(a.sent).toHaveLength(1)
    await sallyport.stop()
  })

  it('A dispatch that waits for a missing worker is logged', async () => {
    const { plan, commit, clock, logger } = host()
    const planned = await plan()
    await commit({ accept: [planned] })
    clock.advance(10_000)
    await setImmediate()
    expect(logger.lines).toMatchObject([{ event: 'worker.missing', fields: { dispatchId: planned.dispatchId } }])
  })

  it.each<[string, (notes: KindRecords<Note>, read: PluginRecord<Note>) => RecordChange]>([
    ['has changed since it was read', (notes, read) => notes.update(read, { text: 'mine' })],
    ['is compared and has changed', (notes, read) => notes.compare(read)],
    ['exists although it is inserted', (notes) => notes.insert(TENANT, 'n', { text: 'mine' })],
  ])('Nothing is stored if a record %s, and the dispatch can be committed afterwards', async (_, change) => {
    const { plan, commit, notes, note, statusesOf, accepted, reported, measured } = host()
    const old = await accepted()
    await commit({ changes: [notes().insert(TENANT, 'n', { text: 'one' })] })
    const read = (await note('n')) ?? expect.fail('is not stored')
    await notes().change(TENANT, 'n', () => ({ text: 'two' }))
    const planned = await plan({ key: 'k' })
    await setImmediate()
    reported.length = 0
    measured.length = 0
    const unit = { accept: [planned], cancel: [{ tenant: TENANT, dispatchId: old }] }
    const changes = [change(notes(), read), notes().insert(TENANT, 'other', { text: 'x' })]
    const names = [{ kind: 'own.notes', tenant: TENANT, key: 'n' }]
    expect(await commit({ ...unit, changes })).toEqual({ outcome: 'conflict', records: names })
    expect([await statusesOf(planned.dispatchId), await statusesOf(old)]).toEqual([undefined, QUEUED])
    expect([(await note('n'))?.body, await note('other')]).toEqual([{ text: 'two' }, undefined])
    await setImmediate()
    expect([reported, measured]).toEqual([[], []])

    expect(await commit(unit)).toMatchObject({ outcome: 'committed' })
    expect([await statusesOf(planned.dispatchId), await statusesOf(old)]).toEqual([
      QUEUED,
      ['a cancelled', 'b skipped'],
    ])
  })

  it('Of two dispatches with one key, the second is refused with the stored answer', async () => {
    const { plan, commit, notes, note, statusesOf } = host()
    const [first, second] = [await plan({ key: 'k' }), await plan({ key: 'k' })]
    await commit({ accept: [first] })
    const changes = [notes().insert(TENANT, 'n', { text: 'one' })]
    expect(await commit({ accept: [await plan(), second], changes })).toMatchObject({
      outcome: 'refused',
      refused: [{ at: 1, outcome: 'replayed', answer: { dispatchId: first.dispatchId } }],
    })
    expect([await statusesOf(second.dispatchId), await note('n')]).toEqual([undefined, undefined])
  })

  it('It refuses what plan did not return, and stores nothing', async () => {
    const { sallyport, plan, commit } = host()
    const planned = await plan()
    const message = 'accept[0] was not returned by plan(), or it is committed already'
    for (const wrong of [{ ...planned }, {}, undefined, 'dsp_1'])
      await expect(commit({ accept: [wrong as never, planned] })).rejects.toMatchObject({
        ...{ code: 'option_invalid', message },
      })
    expect((await sallyport.dispatches.list()).items).toEqual([])
    expect(await commit({ accept: [planned] })).toMatchObject({ outcome: 'committed' })
  })

  it('It refuses a dispatch that is committed twice: afterwards, at the same time, or in one unit', async () => {
    const { plan, commit, sallyport } = host()
    const refused = (at: number) => ({
      ...{ code: 'option_invalid', message: `accept[${at}] was not returned by plan(), or it is committed already` },
    })
    const planned = await plan()
    const [first, second] = await Promise.allSettled([commit({ accept: [planned] }), commit({ accept: [planned] })])
    expect(first).toMatchObject({ value: { outcome: 'committed' } })
    expect(second).toMatchObject({ reason: refused(0) })
    await expect(commit({ accept: [planned] })).rejects.toMatchObject(refused(0))
    const other = await plan()
    await expect(commit({ accept: [other, other] })).rejects.toMatchObject(refused(1))
    expect((await sallyport.dispatches.list()).items).toHaveLength(1)
    expect(await commit({ accept: [other] })).toMatchObject({ outcome: 'committed' })
  })

  it('It refuses more than 500 entries of a list', async () => {
    const { plan, commit, notes, sallyport } = host()
    const places = Array.from({ length: 501 }, (_, at) => `n${at}`)
    const accept: PreparedDispatch[] = []
    for (const _ of places) accept.push(await plan())
    const cancel = places.map((dispatchId) => ({ tenant: TENANT, dispatchId }))
    const changes = places.map((key) => notes().insert(TENANT, key, { text: key }))
    for (const [name, unit] of Object.entries({ accept: { accept }, cancel: { cancel }, changes: { changes } }))
      await expect(commit(unit)).rejects.toMatchObject({
        ...{ code: 'option_invalid', message: `${name} has 501 entries; one commit takes at most 500` },
      })
    expect(await commit({ accept: accept.slice(1) })).toMatchObject({ outcome: 'committed' })
    expect((await sallyport.dispatches.list({ limit: 1 })).items).toHaveLength(1)
  })

  it('It rejects with the error of the store and reports nothing, and can be repeated', async () => {
    const down = new Error('down')
    let isDown = true
    const { plan, commit, reported, measured, logger, clock } = host({
      change: ({ commitUnit }) => ({
        commitUnit: (...given: Parameters<typeof commitUnit>) => (isDown ? Promise.reject(down) : commitUnit(...given)),
      }),
    })
    const planned = await plan()
    await expect(commit({ accept: [planned] })).rejects.toBe(down)
    clock.advance(10_000)
    await setImmediate()
    expect([reported, measured, logger.lines]).toEqual([[], [], []])
    isDown = false
    expect(await commit({ accept: [planned] })).toMatchObject({ outcome: 'committed' })
  })

  it('It rejects for an id generator that repeats an id, and stores nothing', async () => {
    let count = 0
    const { plan, commit, notes, note } = host({ ids: { next: (prefix) => `${prefix}_${++count}` } })
    await commit({ accept: [await plan()] })
    count = 0
    const changes = [notes().insert(TENANT, 'n', { text: 'one' })]
    await expect(commit({ accept: [await plan()], changes })).rejects.toMatchObject({ code: 'answer_invalid' })
    expect(await note('n')).toBeUndefined()
  })
})
