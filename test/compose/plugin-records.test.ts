import { describe, expect, it } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { type KindRecords, type RecordKind, recordsOf } from '../../src/plugins/kind-records.ts'
import type { PluginCore } from '../../src/plugins/plugin.ts'
import type { SallyportStore } from '../../src/ports/sallyport-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { testAuth } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'

interface Note {
  readonly day: string
  readonly text?: unknown
  readonly until?: number
}

const NOTES: RecordKind<Note> = { sort: { day: ({ day }) => day }, expiresAt: ({ until }) => until }

/** What a plugin gets at its setup. */
function coreOf(name: string, store: SallyportStore = memoryStore(), clock = fakeClock()): PluginCore {
  let core: PluginCore | undefined
  const setup = (given: PluginCore) => {
    core = given
    return {}
  }
  createSallyport({ auth: testAuth, store, clock, plugins: [{ name, setup }] })
  if (!core) throw new Error('the plugin was not set up')
  return core
}

function notesIn(store?: SallyportStore, plugin = 'own'): KindRecords<Note> {
  return recordsOf(coreOf(plugin, store), 'notes', NOTES)
}

const bodies = (found: readonly { readonly body: Note }[]): readonly string[] => found.map(({ body }) => body.day)

describe('records of a plugin', () => {
  it('A change stores, replaces, keeps and removes a record', async () => {
    const notes = notesIn()
    expect(await notes.change('t', 'a', () => ({ day: '2027-01-01' }))).toEqual({ day: '2027-01-01' })
    const [first] = await notes.find('t', ['a', 'b'])
    expect(first).toMatchObject({ kind: 'own.notes', tenant: 't', key: 'a', body: { day: '2027-01-01' } })
    await notes.change('t', 'a', (before) => before)
    expect((await notes.find('t', ['a']))[0]?.version).toBe(first?.version)
    await notes.change('t', 'a', (before) => before && { ...before, text: 'x' })
    expect((await notes.find('t', ['a']))[0]?.body).toEqual({ day: '2027-01-01', text: 'x' })
    expect(await notes.change('t', 'a', () => undefined)).toBeUndefined()
    expect(await notes.find('t', ['a'])).toEqual([])
  })

  it('Records are found by a sort text too, all that have it', async () => {
    const notes = notesIn()
    await notes.change('t', 'a', () => ({ day: '2027-01-01' }))
    await notes.change('t', 'b', () => ({ day: '2027-01-01' }))
    await notes.change('t', 'c', () => ({ day: '2027-01-02' }))
    const found = await notes.find('t', ['2027-01-01', '2027-01-03'], 'day')
    expect(found.map(({ key }) => key).sort()).toEqual(['a', 'b'])
    await expect(notes.find('t', ['a'], 'text')).rejects.toThrow('field "by": must be one of key, day')
  })

  it('Plugins with kinds of one name do not see records of each other, nor do tenants', async () => {
    const store = memoryStore()
    await notesIn(store).change('t', 'a', () => ({ day: '2027-01-01' }))
    expect(await notesIn(store, 'other').find('t', ['a'])).toEqual([])
    expect(await notesIn(store).find('', ['a'])).toEqual([])
    expect(bodies(await notesIn(store).find('t', ['a']))).toEqual(['2027-01-01'])
  })

  it('A list has the order of its text, and pages', async () => {
    const notes = notesIn()
    const days = ['2027-03-01', '2027-01-01', '2027-02-01']
    for (const [at, day] of days.entries()) await notes.change('t', `${at}`, () => ({ day }))
    expect(bodies((await notes.list('t')).items)).toEqual(days)
    const byDay = await notes.list('t', { by: 'day', limit: 2 })
    expect(bodies(byDay.items)).toEqual(['2027-01-01', '2027-02-01'])
    const rest = await notes.list('t', { by: 'day', limit: 2, cursor: byDay.nextCursor })
    expect([bodies(rest.items), rest.nextCursor]).toEqual([['2027-03-01'], undefined])
    const range = { by: 'day', from: '2027-01-02', until: '2027-03-01' }
    expect(bodies((await notes.list('t', range)).items)).toEqual(['2027-02-01'])
    expect(bodies((await notes.list('t', { by: 'day', reverse: true, limit: 1 })).items)).toEqual(['2027-03-01'])
    await notes.change('t', '9', () => ({ day: '2027-01-01' }))
    const first = await notes.list('t', { by: 'day', is: '2027-01-01', limit: 1 })
    const second = await notes.list('t', { by: 'day', is: '2027-01-01', limit: 1, cursor: first.nextCursor })
    expect([...first.items, ...second.items].map(({ key }) => key)).toEqual(['1', '9'])
    expect(second.nextCursor).toBeUndefined()
  })

  it('Expired records are pruned, of one tenant or of all', async () => {
    const clock = fakeClock()
    const notes = recordsOf(coreOf('own', memoryStore({ clock }), clock), 'notes', NOTES)
    for (const tenant of ['t', 'u'])
      for (const ms of [1, 2_000, undefined])
        await notes.change(tenant, `${ms}`, () => ({ day: 'x', ...(ms && { until: clock.now() + ms }) }))
    clock.advance(1_500)
    expect(await notes.prune(2_000)).toBe(0)
    expect(await notes.prune(1_000, 't')).toBe(1)
    expect(await notes.prune(1_000)).toBe(1)
    clock.advance(1_000_000)
    expect(await notes.prune(0)).toBe(2)
    expect((await notes.list('t')).items.map(({ key }) => key)).toEqual(['undefined'])
  })

  it('A body is stored as JSON', async () => {
    const notes = notesIn()
    const text = { at: new Date(0), no: undefined, deep: [1, { list: [null] }] }
    await notes.change('t', 'a', () => ({ day: 'x', text }))
    expect((await notes.find('t', ['a']))[0]?.body.text).toEqual({ at: '1970-01-01T00:00:00.000Z', deep: text.deep })
  })

  it('A key that no record can have is not found, and removing it is no mistake', async () => {
    const notes = notesIn()
    const long = 'x'.repeat(201)
    expect(await notes.find('t', [long, '', '\0'])).toEqual([])
    expect(await notes.change('t', long, () => undefined)).toBeUndefined()
    await expect(notes.change('t', long, () => ({ day: 'x' }))).rejects.toMatchObject({
      code: 'option_invalid',
      problems: [{ field: 'key', detail: expect.stringContaining('must be a string of 1-200 characters') }],
    })
  })

  it('An error of the store rejects each method', async () => {
    const down = new Error('down')
    const fail = () => Promise.reject(down)
    const store = { ...memoryStore(), findRecords: fail, listRecords: fail, changeRecords: fail, removeRecords: fail }
    const notes = notesIn(store)
    const calls = [notes.find('t', ['a']), notes.list('t'), notes.change('t', 'a', (body) => body), notes.prune(0)]
    for (const call of calls) await expect(call).rejects.toBe(down)
  })
})

describe('a wrong call', () => {
  const CALLS: Readonly<Record<string, readonly [(notes: KindRecords<Note>) => Promise<unknown>, RegExp]>> = {
    'a tenant that is no text': [(notes) => notes.find(7 as never, ['a']), /"tenant": is a number/],
    'keys that are no list': [(notes) => notes.find('t', 'a' as never), /"keys": is a string; must be a list of keys/],
    'a list by an unknown text': [(notes) => notes.list('t', { by: 'night' }), /"by": must be one of key, day/],
    'a page of 501': [(notes) => notes.list('t', { limit: 501 }), /limit/],
    'a cursor of another list': [
      async (notes) => {
        for (const key of ['a', 'b']) await notes.change('t', key, () => ({ day: 'x' }))
        const { nextCursor } = await notes.list('t', { limit: 1 })
        return notes.list('t', { by: 'day', cursor: nextCursor })
      },
      /"cursor": must be the nextCursor/,
    ],
    'one text and a range': [(notes) => notes.list('t', { is: 'a', from: 'b' }), /"is": excludes from and until/],
    'a body that is a list': [(notes) => notes.change('t', 'a', () => [] as never), /a body is a JSON object/],
    'a body with a cycle': [
      (notes) => {
        const text: unknown[] = []
        text.push(text)
        return notes.change('t', 'a', () => ({ day: 'x', text }))
      },
      /it has a cycle/,
    ],
    'a promise of a body': [(notes) => notes.change('t', 'a', (async () => ({})) as never), /this one is a promise/],
    'a negative age': [(notes) => notes.prune(-1), /expiredForMs/],
    'a sort text that is no text': [
      (notes) => notes.change('t', 'a', () => ({ day: 7 as never })),
      /sort\.day\(\) of the records own\.notes returned a number; return 1-200 characters or undefined/,
    ],
    'an expiry that is no time': [
      (notes) => notes.change('t', 'a', () => ({ day: 'x', until: Number.NaN })),
      /expiresAt\(\) of the records own\.notes returned/,
    ],
  }

  it.each(Object.entries(CALLS))('%s is refused, and nothing is stored', async (_, [call, message]) => {
    const store = memoryStore()
    await expect(call(notesIn(store))).rejects.toMatchObject({ message: expect.stringMatching(message) })
    expect(await notesIn(store).find('t', ['a'])).toHaveLength(message.source.includes('cursor') ? 1 : 0)
  })

  it('A record of another kind is no record of this one', async () => {
    const store = memoryStore()
    await notesIn(store, 'other').change('t', 'a', () => ({ day: 'x' }))
    const [foreign] = await notesIn(store, 'other').find('t', ['a'])
    if (!foreign) throw new Error('the record is missing')
    const notes = notesIn(store)
    for (const make of [notes.remove, notes.compare, (of: typeof foreign) => notes.update(of, { day: 'y' })])
      expect(() => make(foreign)).toThrow('own.notes: give a record of this kind that was read')
  })

  const KINDS: Readonly<Record<string, readonly [kind: unknown, declaration: unknown, message: RegExp]>> = {
    'a name with a full stop': ['a.b', {}, /must be a name of a-z 0-9 _/],
    'a name that is too long': ['n'.repeat(29), {}, /of 32 characters/],
    'no name': [undefined, {}, /argument 2/],
    'five texts': ['n', { sort: Object.fromEntries([...'abcde'].map((name) => [name, () => 'x'])) }, /has 5 texts/],
    'a text named key': ['n', { sort: { key: () => 'x' } }, /and not key/],
    'a text without a function': ['n', { sort: { day: 'day' } }, /must be a function/],
    'an unknown member': ['n', { sorts: {} }, /is not an option; near: sort/],
  }

  it.each(Object.entries(KINDS))(
    'A kind with %s stops the start, with the plugin',
    (_, [kind, declaration, message]) => {
      const setup = (core: PluginCore) => {
        recordsOf(core, kind as string, declaration as RecordKind<Note>)
        return {}
      }
      const start = () => createSallyport({ auth: testAuth, store: memoryStore(), plugins: [{ name: 'own', setup }] })
      expect(start).toThrow(message)
      expect(start).toThrow(/plugins\.own/)
    },
  )
})
