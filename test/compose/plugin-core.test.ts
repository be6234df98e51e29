import { describe, expect, it } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { SallyportError } from '../../src/errors.ts'
import { recordsOf } from '../../src/plugins/kind-records.ts'
import type { Plugin, PluginCore, PreparedDispatch } from '../../src/plugins/plugin.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { composed } from './composed.ts'

const TENANT = 'default'
const EVENT = { eventType: 'e', recipient: 'ada@example.com' } as const
const events = defineEvents({ e: { channels: { a: {} } } })

interface Note {
  readonly text: string
}

describe('the core of a plugin', () => {
  it('It neither plans nor commits before its setup has returned', async () => {
    let early: readonly Promise<unknown>[] = []
    const plugin: Plugin = {
      name: 'own',
      setup(core) {
        const { plan, commit } = core
        early = [
          Promise.resolve(plan?.(TENANT, EVENT)),
          commit({ changes: [recordsOf<Note>(core, 'notes').insert(TENANT, 'n', { text: 'one' })] }),
        ]
        for (const each of early) each.catch(() => {})
        return {}
      },
    }
    composed(events, { plugins: [plugin] })
    for (const each of early) await expect(each).rejects.toThrow(new TypeError('a plugin may do this after its setup'))
  })

  it('In a host that only records runs it stores records, and cannot plan', async () => {
    let core: PluginCore | undefined
    const plugin: Plugin = {
      name: 'own',
      setup(given) {
        core = given
        return {}
      },
    }
    const clock = fakeClock()
    createSallyport({
      auth: testAuth,
      store: memoryStore({ clock }),
      clock,
      logger: recordingLogger(),
      plugins: [plugin],
    })
    expect(core?.plan).toBeUndefined()
    const notes = core && recordsOf<Note>(core, 'notes')
    const insert = { changes: notes ? [notes.insert(TENANT, 'n', { text: 'one' })] : [] }
    expect(await core?.commit(insert)).toEqual({ outcome: 'committed', answers: [], cancelled: [] })
    expect(await notes?.find(TENANT, ['n'])).toMatchObject([{ key: 'n', body: { text: 'one' } }])
    expect(await core?.commit(insert)).toMatchObject({ outcome: 'conflict' })
    const accept = [{ dispatchId: 'd' }] as unknown as readonly PreparedDispatch[]
    await expect(core?.commit({ accept })).rejects.toThrow('accept[0] was not returned by plan()')
  })
})

describe('plugins that need others', () => {
  it('use() returns the api of a plugin that needs names, and of no other', () => {
    const greeting = { greet: () => 'hello' }
    const seen: unknown[] = []
    const user: Plugin = {
      ...{ name: 'user', needs: ['greeter', 'silent'] },
      setup({ use }) {
        seen.push(use<typeof greeting>('greeter'), use('silent'))
        for (const other of ['unnamed', 'absent', 'toString'])
          try {
            use(other)
          } catch (error) {
            const { code, problems } = error as SallyportError
            seen.push([code, problems])
          }
        return {}
      },
    }
    const plugin = (name: string, api?: object): Plugin => ({ name, setup: () => ({ ...(api && { api }) }) })
    const before = [plugin('greeter', greeting), plugin('silent'), plugin('unnamed', { other: 1 })]
    composed(events, { plugins: [...before, user] })
    const refused = (name: string) => [
      'option_invalid',
      [{ field: 'argument 1', detail: `"${name}" is not a plugin that needs names` }],
    ]
    expect(seen).toEqual([greeting, {}, ...['unnamed', 'absent', 'toString'].map(refused)])
    expect(seen[0]).toBe(greeting)
  })

  it('A plugin that needs a failed one is not set up, and only the first fault is reported', () => {
    const setUp: string[] = []
    const plugin = (name: string, needs: readonly string[], act = (): object => ({})): Plugin => ({
      ...{ name, needs },
      setup() {
        setUp.push(name)
        return act()
      },
    })
    const failing = plugin('one', [], () => {
      throw new TypeError('down')
    })
    const all = [failing, plugin('two', ['one']), plugin('three', ['two']), plugin('four', ['dispatch'])]
    let problems: unknown
    try {
      composed(events, { plugins: all })
    } catch (error) {
      problems = (error as SallyportError).problems
    }
    expect(problems).toEqual([{ field: 'plugins.one', detail: 'setup() threw TypeError' }])
    expect(setUp).toEqual(['one', 'four'])
  })
})
