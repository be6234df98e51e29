import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { success } from '../../src/core/answers/result.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { OpenAction } from '../../src/core/endpoints.ts'
import type { SallyportError } from '../../src/errors.ts'
import type { Plugin, PluginCore, PluginParts } from '../../src/plugins/plugin.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { countingIds, recordingLogger, testAuth } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const ADA = 'ada@example.com'

const plugin = (parts: PluginParts | ((core: PluginCore) => PluginParts), name = 'own'): Plugin => ({
  name,
  setup: (core) => (typeof parts === 'function' ? parts(core) : parts),
})

function host(...plugins: readonly Plugin[]) {
  const clock = fakeClock()
  const logger = recordingLogger()
  const sallyport = createSallyport<unknown>({
    ...{ auth: testAuth, store: memoryStore({ clock }), clock, logger, ids: countingIds(), plugins },
    ...{
      events: defineEvents({ e: { channels: { email: { text: () => 'Hi' } } } }),
      channels: { email: recordingChannel() },
    },
  })
  const send = async (): Promise<string> => {
    const answer = await sallyport.dispatch({ eventType: 'e', recipient: ADA })
    await sallyport.worker.runDue()
    return answer.ok && 'dispatchId' in answer.body ? answer.body.dispatchId : ''
  }
  return { sallyport, clock, logger, send }
}

describe('the view of a plugin', () => {
  it('Its members are added to deliveries, those of earlier plugins and of the core stay', async () => {
    const shown: unknown[] = []
    const { sallyport, send } = host(
      plugin({
        view: {
          async deliveries(dispatches, depth) {
            shown.push(depth)
            const all = dispatches.flatMap(({ deliveries }) => deliveries)
            return new Map(all.map(({ deliveryId }) => [deliveryId, { status: 'read', note: 1 }]))
          },
        },
      }),
      plugin(
        {
          view: {
            deliveries: async ([one]) => new Map([[one?.deliveries[0]?.deliveryId ?? '', { note: 2, more: true }]]),
          },
        },
        'other',
      ),
    )
    const id = await send()
    const expected = [{ deliveryId: expect.any(String), status: 'sent', note: 1, more: true }]
    expect((await sallyport.dispatches.get(id))?.deliveries).toMatchObject(expected)
    expect((await sallyport.dispatches.list()).items).toMatchObject([{ deliveries: expected }])
    expect((await sallyport.dispatches.export({ recipient: ADA })).dispatches).toMatchObject([{ deliveries: expected }])
    expect(shown).toEqual(['one', 'page', 'export'])
  })

  const down = new Error('down')
  it.each<[string, () => unknown, unknown]>([
    ['throws', () => Promise.reject(down), down],
    [
      'returns an object',
      async () => ({}),
      { message: expect.stringMatching(/^view\.deliveries\(\) of the plugin own returned an object .*; return a Map/) },
    ],
    [
      'hangs',
      () => new Promise(() => {}),
      { message: 'view.deliveries() of the plugin own did not answer within 30 s' },
    ],
  ])('A view that %s rejects the read, and nothing is shown without it', async (_, deliveries, error) => {
    const { sallyport, send, clock } = host(plugin({ view: { deliveries: deliveries as never } }))
    const id = await send()
    const read = expect(sallyport.dispatches.get(id)).rejects.toMatchObject(error as object)
    await setImmediate()
    clock.advance(30_000)
    await read
  })
})

describe('data of recipients', () => {
  it('An export has what each plugin stores, by its name; an erasure and a prune reach all', async () => {
    const told: unknown[] = []
    const keeping = (name: string, data: object) =>
      plugin(
        {
          recipient: {
            export: async () => data,
            erase: async (of) => void told.push([name, of]),
          },
          prune: async (...of) => void told.push([name, ...of]),
        },
        name,
      )
    const { sallyport } = host(keeping('one', { likes: ['tea'] }), keeping('two', {}))
    expect(await sallyport.dispatches.export({ recipient: ADA })).toEqual({
      dispatches: [],
      plugins: { one: { likes: ['tea'] } },
    })
    await sallyport.dispatches.erase({ recipient: ADA, tenant: 'acme' })
    await sallyport.dispatches.prune({ olderThan: 5, tenant: 'acme' })
    await sallyport.dispatches.prune({ olderThan: 6 })
    const of = { recipient: ADA, tenant: 'acme' }
    expect(told).toEqual([
      ...[
        ['one', of],
        ['two', of],
      ],
      ...[
        ['one', 5, 'acme'],
        ['two', 5, 'acme'],
      ],
      ...[
        ['one', 6, undefined],
        ['two', 6, undefined],
      ],
    ])
  })

  it('An error of a plugin rejects the export, the erasure and the prune', async () => {
    const down = async (): Promise<never> => {
      throw new Error('down')
    }
    const { sallyport } = host(plugin({ recipient: { export: down, erase: down }, prune: down }))
    for (const call of ['export', 'erase'] as const)
      await expect(sallyport.dispatches[call]({ recipient: ADA })).rejects.toThrow('down')
    await expect(sallyport.dispatches.prune({ olderThan: 1 })).rejects.toThrow('down')
  })

  it('An export that is no object is refused with what to return', async () => {
    const { sallyport } = host(plugin({ recipient: { export: async () => [] as never, erase: async () => {} } }))
    await expect(sallyport.dispatches.export({ recipient: ADA })).rejects.toThrow(
      /^recipient\.export\(\) of the plugin own returned an? .*; return an object/,
    )
  })
})

const OPEN: OpenAction = {
  ...{ name: 'poll', methods: ['POST'], path: '/api/polls/', parameter: '{token}', maxBytes: 100, accepts: 'json' },
  find: (token) => (token === 'known' ? { handle: async () => success(200, { voted: true }) } : undefined),
}

async function postTo(plugins: readonly Plugin[], path: string) {
  const logger = recordingLogger()
  const clock = fakeClock()
  const sallyport = createSallyport({ auth: testAuth, store: memoryStore({ clock }), clock, logger, plugins })
  const answer = await toFetch(sallyport)(new Request(`https://shop.test${path}`, { method: 'POST', body: '{}' }))
  return { status: answer.status, text: await answer.text(), logger }
}

describe('open endpoints of a plugin', () => {
  it('They answer without a bearer token, also in a host that only records runs', async () => {
    expect(await postTo([plugin({ open: [OPEN] })], '/api/polls/known')).toMatchObject({
      ...{ status: 200, text: '{"voted":true}' },
    })
    expect((await postTo([plugin({ open: [OPEN] })], '/api/polls/other')).status).toBe(404)
    expect((await postTo([], '/api/polls/known')).status).toBe(404)
  })

  const failing = async (): Promise<never> => {
    throw new Error('a secret')
  }
  it.each<[string, OpenAction]>([
    ['find', { ...OPEN, find: failing }],
    ['handle', { ...OPEN, find: () => ({ handle: failing }) }],
  ])('An error of %s is answered 500 and logged, without its message', async (_, open) => {
    const { status, text, logger } = await postTo([plugin({ open: [open] })], '/api/polls/known')
    expect([status, JSON.parse(text).code]).toEqual([500, 'internal_error'])
    expect(text).not.toContain('a secret')
    expect(logger.lines).toMatchObject([{ event: 'request.failed', fields: { cause: 'Error' } }])
  })

  it.each<[string, readonly Plugin[], readonly string[]]>([
    [
      'that is no list',
      [plugin({ open: {} as never })],
      ['plugins.own.open is an object; must be a list of endpoints'],
    ],
    [
      'that is malformed',
      [plugin({ open: [{ ...OPEN, path: '/api/polls', accepts: 'text' as never }] })],
      [
        'plugins.own.open[0].path is "/api/polls"; must be a path with a slash at its end: /api/holidays/',
        'plugins.own.open[0].accepts is "text"; must be one of bytes, form, json',
      ],
    ],
    [
      'of another plugin',
      [plugin({ open: [OPEN] }), plugin({ open: [{ ...OPEN, parameter: '{id}' }] }, 'two')],
      ['plugins.two.open[0] /api/polls/{} is the path of own already'],
    ],
    [
      'of the core',
      [plugin({ open: [{ ...OPEN, path: '/api/agents/sessions/' }] })],
      ['plugins.own.open[0] /api/agents/sessions/{} is the path of another endpoint already'],
    ],
  ])('One %s stops the start', (_, plugins, problems) => {
    let found: SallyportError['problems'] = []
    try {
      createSallyport({ auth: testAuth, store: memoryStore(), plugins })
    } catch (error) {
      found = (error as SallyportError).problems
    }
    expect(found.map(({ field, detail }) => `${field} ${detail}`)).toEqual(problems)
  })
})

describe('links and fallbacks of the core', () => {
  it('A plugin gets signed links with the option links, and cannot continue dispatches during its setup', async () => {
    let core: PluginCore | undefined
    host(
      plugin((given) => {
        core = given
        return {}
      }),
    )
    expect(core?.links).toBeUndefined()
    expect(core?.fallBack).toBeTypeOf('function')
    let early: readonly (Promise<unknown> | undefined)[] = []
    host(
      plugin(({ fallBack, dispatch }) => {
        early = [fallBack?.({} as never, 'd'), dispatch?.('default', { eventType: 'e', recipient: ADA })]
        for (const each of early) each?.catch(() => {})
        return {}
      }),
    )
    for (const each of early) await expect(each).rejects.toThrow('a plugin may do this after its setup')
  })
})
