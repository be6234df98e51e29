import { describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { success } from '../../src/core/answers/result.ts'
import type { Action } from '../../src/core/endpoints.ts'
import type { RunChange } from '../../src/core/runs/signal-outbox.ts'
import { SallyportError } from '../../src/errors.ts'
import type { Plugin, PluginParts } from '../../src/plugins/plugin.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { APP, countingIds, recordingLogger, testAuth } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { handled } from '../support/handled.ts'

function host(plugins: readonly unknown[], more: object = {}) {
  const clock = fakeClock()
  const logger = recordingLogger()
  const errors: unknown[] = []
  const sallyport = createSallyport({
    ...{ auth: testAuth, store: memoryStore({ clock }), clock, logger, ids: countingIds() },
    hooks: { onError: (error: unknown, { operation }: { operation: string }) => void errors.push([operation, error]) },
    plugins: plugins as readonly Plugin[],
    ...more,
  })
  const post = (run: object, sessionId = 's1') =>
    handled(
      sallyport.endpoints,
      'session_run',
      { id: 'app', tenant: 'default' },
      { headers: {}, body: { sessionId, run } },
    )
  return { sallyport, clock, logger, errors, post }
}

/** The problems of a start, as `field detail`. */
function refused(...plugins: readonly unknown[]): readonly string[] {
  try {
    host(plugins)
  } catch (error) {
    const { code, problems } = error as SallyportError
    return [code, ...problems.map(({ field, detail }) => `${field} ${detail}`)]
  }
  return []
}

const plugin = (parts: PluginParts, name = 'own', more: Partial<Plugin> = {}): Plugin => ({
  name,
  setup: () => parts,
  ...more,
})

const HOLIDAYS: Action = {
  ...{ name: 'list_holidays', operation: 'read', method: 'GET', path: '/api/holidays/{year}', maxBytes: 0 },
  run: ({ request }) => success(200, { year: request.parameters?.year }),
}

describe('the members of plugins', () => {
  it('Members of an api become members of the Sallyport, and objects are joined', async () => {
    const uses = plugin({ api: { tokens: { uses() {}, prune() {} } } }, 'tokenUses')
    const { sallyport } = host([uses, plugin({ api: { greet: () => 'hello', nested: { one: 1 } } })])
    expect(sallyport).toMatchObject({ nested: { one: 1 } })
    expect(Object.keys(sallyport.tokens).sort()).toEqual(['prune', 'revoke', 'uses'])
    expect(Reflect.get(sallyport, 'greet')()).toBe('hello')
  })

  it('Types of members are those of the given plugins', () => {
    const { store, auth } = { store: memoryStore(), auth: testAuth }
    const counts = { name: 'counts', setup: () => ({ api: { stats: () => 1 } }) } satisfies Plugin
    const limits = { name: 'limits', setup: () => ({ api: { budgets: { check: () => true } } }) } satisfies Plugin
    const one = createSallyport({ auth, store, plugins: [counts, limits] })
    expect([one.stats().toFixed(), one.budgets.check()]).toEqual(['1', true])
    const none = createSallyport({ auth, store })
    // @ts-expect-error The plugin is not given.
    expect(none.stats).toBeUndefined()
    // @ts-expect-error The plugin is not given.
    expect(one.tokens.uses).toBeUndefined()
  })

  it('Endpoints of a plugin answer under their paths, and those of absent plugins are 404', async () => {
    const { sallyport } = host([plugin({ actions: [HOLIDAYS] })], {
      auth: { verify: () => ({ id: 'support', tenant: 'default', operations: ['read'] }) },
    })
    const fetch = toFetch(sallyport)
    const get = async (path: string) => {
      const answer = await fetch(new Request(`http://host.test${path}`, { headers: APP }))
      return [answer.status, answer.status === 200 ? await answer.json() : undefined]
    }
    expect(await get('/api/holidays/2026')).toEqual([200, { year: '2026' }])
    for (const path of ['/api/outbound/stats', '/api/agents/budgets?userId=a', '/api/agents/tokens/uses'])
      expect(await get(path)).toEqual([404, undefined])
  })
})

describe('plugins that do not fit', () => {
  it.each<[string, readonly unknown[], readonly string[]]>([
    [
      'no object',
      [5],
      ['plugins[0] is a number; pass a plugin such as statistics(), or an object { name, setup(core) }'],
    ],
    [
      'a function that must be called',
      [() => plugin({})],
      [
        'plugins[0] has no setup: must it be called? Pass a plugin such as statistics(), or an object { name, setup(core) }',
      ],
    ],
    [
      'a bad name',
      [plugin({}, 'Own!')],
      ['plugins[0].name must be 1-64 letters and digits, a lower-case letter first'],
    ],
    [
      'needs that are no list',
      [plugin({}, 'own', { needs: 'other' as never })],
      ['plugins[0].needs is a string; must be a list of names of plugins'],
    ],
    [
      'two of one name',
      [plugin({}, 'one'), plugin({}, 'one')],
      ['plugins[1].name "one" is the name of a plugin before it'],
    ],
    [
      'a missing need',
      [plugin({}, 'own', { needs: ['consent'] })],
      ['plugins[0] own needs the plugin "consent" before it'],
    ],
    [
      'a need that stands after it',
      [plugin({}, 'own', { needs: ['later'] }), plugin({}, 'later')],
      ['plugins[0] own needs the plugin "later" before it'],
    ],
    [
      'a need of a host that dispatches',
      [plugin({}, 'own', { needs: ['dispatch'] })],
      ['plugins[0] own needs a host that dispatches: give events and channels too'],
    ],
    [
      'a setup that throws',
      [
        plugin({}, 'own', {
          setup: () => {
            throw new TypeError('no key')
          },
        }),
        plugin({}, 'other', { setup: () => null as never }),
      ],
      [
        'plugins.own setup() threw TypeError',
        'plugins.other setup() returned null; it must return its parts: { api?, actions?, policy?, guard?, run?, on?, life?, … }',
      ],
    ],
    [
      'a setup that gives a promise',
      [plugin({}, 'own', { setup: (async () => ({})) as never })],
      [
        'plugins.own setup() returned a promise; it must return its parts: { api?, actions?, policy?, guard?, run?, on?, life?, … }',
      ],
    ],
    [
      'an unknown part',
      [plugin({ hooks: {} } as never)],
      [
        'plugins.own.hooks is not an option; the options are: api, actions, open, policy, guard, links, ownEvents, fallbackOn, view, recipient, session, prune, run, on, life',
      ],
    ],
    ['a part that is no object', [plugin({ api: 5 } as never)], ['plugins.own.api is a number; must be an object']],
    [
      'actions that are no list',
      [plugin({ actions: {} } as never)],
      ['plugins.own.actions is an object; must be a list of endpoints'],
    ],
    [
      'signals without names',
      [plugin({ run: { signals: () => [], publish: async () => true } } as never)],
      ['plugins.own.run.names is undefined; must be an object'],
    ],
    [
      'a step that is no function',
      [plugin({ life: { flush: true } } as never)],
      ['plugins.own.life.flush is a boolean; must be a function'],
    ],
    [
      'a member of the core',
      [plugin({ api: { runs: {}, stop() {} } })],
      ['plugins.own its member "stop" is a member of Sallyport itself already'],
    ],
    [
      'a member within an object of the core',
      [plugin({ api: { tokens: { revoke() {} } } })],
      ['plugins.own its member "tokens.revoke" is a member of Sallyport itself already'],
    ],
    [
      'a member of another plugin',
      [plugin({ api: { stats: 1 } }, 'counts'), plugin({ api: { stats: 1 } })],
      ['plugins.own its member "stats" is a member of counts already'],
    ],
    [
      'a member named then',
      [plugin({ api: Object.fromEntries([['then', 1]]) })],
      ['plugins.own its member "then" would make it a promise'],
    ],
    [
      'an endpoint of the core',
      [plugin({ actions: [{ ...HOLIDAYS, path: '/api/agents/runs' }] })],
      ['plugins.own.actions[0] GET /api/agents/runs is an endpoint of Sallyport itself already'],
    ],
    [
      'the name of an endpoint of the core',
      [plugin({ actions: [{ ...HOLIDAYS, name: 'get_run' }] })],
      ['plugins.own.actions[0] get_run is an endpoint of Sallyport itself already'],
    ],
    [
      'an endpoint of another plugin',
      [
        plugin({ actions: [HOLIDAYS] }),
        plugin({ actions: [{ ...HOLIDAYS, name: 'other', path: '/api/holidays/{day}' }] }, 'two'),
      ],
      ['plugins.two.actions[0] GET /api/holidays/{} is an endpoint of own already'],
    ],
    [
      'a malformed endpoint',
      [plugin({ actions: [{ ...HOLIDAYS, path: 'holidays', operation: 'write' }] as never })],
      [
        'plugins.own.actions[0].path is "holidays"; must be a path such as /api/holidays/{day}',
        'plugins.own.actions[0].operation is "write"; must be one of dispatch, session_run, read, manage, approval',
      ],
    ],
    [
      'a signal of another plugin',
      [
        plugin({ run: { names: { done: 'once' }, signals: () => [], publish: async () => true } }),
        plugin({ run: { names: { done: 'once' }, signals: () => [], publish: async () => true } }, 'two'),
      ],
      ['plugins.two its signal "done" is one of own too'],
    ],
  ])('%s stops the start', (_, plugins, problems) => {
    expect(refused(...plugins)).toEqual(['config_invalid', ...problems])
  })

  it('A plugin that throws a SallyportError with problems is reported with them', () => {
    const problems = [{ field: 'days', detail: 'must be positive' }]
    const setup = () => {
      throw new SallyportError('config_invalid', 'own', problems)
    }
    expect(refused(plugin({}, 'own', { setup }))).toEqual(['config_invalid', 'plugins.own.days must be positive'])
  })

  it('A list that is no list stops the start', () => {
    expect(() => host([], { plugins: {} })).toThrow('must be a list of plugins')
  })
})

const down = new Error('down')
const failing = (): never => {
  throw down
}
const failed = (hook: string) => ({ event: 'plugin.failed', fields: { plugin: 'own', hook } })

describe('plugins that fail', () => {
  it('An error of a listener is logged, and stops neither the request nor other plugins', async () => {
    const told: string[] = []
    const own = plugin({ on: { measured: failing, requestEnded: (async () => failing()) as never } })
    const other = plugin(
      { on: { measured: ({ of }) => void told.push(of), requestEnded: ({ action }) => void told.push(action.name) } },
      'other',
    )
    const { post, logger, errors } = host([own, other])
    expect((await post({ runId: 'r1', status: 'completed' })).status).toBe(201)
    await new Promise(setImmediate)
    expect(told).toEqual(['run', 'session_run'])
    expect(logger.lines).toMatchObject([failed('measured'), failed('requestEnded')])
    expect(errors).toEqual([
      ['plugin', down],
      ['plugin', down],
    ])
  })

  it('An error of a step of a life is logged, and the other steps run', async () => {
    const steps: string[] = []
    const life = { start: failing, runDue: failing, flush: failing, stop: failing }
    const others = {
      start: () => void steps.push('start'),
      runDue: async () => void steps.push('runDue'),
      flush: async () => void steps.push('flush'),
      stop: async () => void steps.push('stop'),
    }
    const { sallyport, logger } = host([plugin({ life: life as never }), plugin({ life: others }, 'other')])
    sallyport.worker.start()
    await sallyport.worker.runDue()
    await sallyport.stop()
    expect(steps).toEqual(['start', 'runDue', 'stop', 'flush'])
    expect(logger.lines).toMatchObject(['start', 'runDue', 'stop', 'flush'].map(failed))
  })

  it('A step that hangs holds stop() for a second after its grace', async () => {
    const hanging = () => new Promise<void>(() => {})
    const { sallyport, clock, logger } = host([plugin({ life: { flush: hanging } })])
    let isStopped = false
    const stopped = sallyport.stop({ graceMs: 500 }).then(() => {
      isStopped = true
    })
    await new Promise(setImmediate)
    clock.advance(1_499)
    await new Promise(setImmediate)
    expect(isStopped).toBe(false)
    clock.advance(1)
    await stopped
    expect(logger.lines).toMatchObject([failed('flush')])
  })
})

describe('signals of runs', () => {
  const signalling = (run: Partial<NonNullable<PluginParts['run']>>) =>
    plugin({
      run: {
        names: { done: 'once', changed: 'repeated' },
        signals: ({ newEnd }: RunChange) => (newEnd === undefined ? [] : [{ name: 'done' }]),
        publish: async () => true,
        ...run,
      },
    })
  const pendingOf = async ({ sallyport }: ReturnType<typeof host>) =>
    (await sallyport.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' }))?.derived.pending
  const ended = { runId: 'r1', status: 'completed' }

  it('A signal is stored with the run until it is published, also after an error', async () => {
    const published: string[] = []
    let isDown = true
    const own = signalling({
      async publish({ state }, signal) {
        if (isDown) failing()
        published.push(`${state.runId} ${signal}`)
        return true
      },
    })
    const app = host([own])
    await app.post(ended)
    await app.sallyport.worker.runDue()
    expect([await pendingOf(app), published]).toEqual([['done'], []])
    expect(app.logger.lines[0]).toMatchObject(failed('run.publish'))
    isDown = false
    await app.sallyport.worker.runDue()
    expect([await pendingOf(app), published]).toEqual([[], ['r1 done']])
  })

  it('A signal whose publishing hangs is given up after 30 seconds, and stays pending', async () => {
    const app = host([signalling({ publish: () => new Promise<boolean>(() => {}) })])
    await app.post(ended)
    const running = app.sallyport.worker.runDue()
    // The publishing after the post hangs first, and then that of `runDue`.
    for (let times = 0; times < 2; times++) {
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      app.clock.advance(30_000)
    }
    await running
    expect(await pendingOf(app)).toEqual(['done'])
    expect(app.logger.lines).toMatchObject([failed('run.publish'), failed('run.publish')])
  })

  it('A plugin that throws in a merge raises no signal, and the run is recorded', async () => {
    const app = host([signalling({ signals: failing })])
    expect((await app.post(ended)).status).toBe(201)
    expect(await pendingOf(app)).toEqual([])
    expect(app.logger.lines).toMatchObject([failed('run.signals')])
  })

  it('A signal that one change raises twice is stored once', async () => {
    const app = host([signalling({ signals: () => [{ name: 'done' }, { name: 'done' }], publish: async () => false })])
    await app.post(ended)
    expect(await pendingOf(app)).toEqual(['done'])
  })

  it('Names that the plugin does not declare are not stored', async () => {
    const app = host([signalling({ signals: () => [{ name: 'other' }, { name: 'toString' }] })])
    await app.post(ended)
    expect(await pendingOf(app)).toEqual([])
  })

  it('Signals of a plugin that this process lacks stay for another process', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const first = host([signalling({ publish: async () => false })], { store, clock })
    await first.post(ended)
    await first.sallyport.worker.runDue()
    const without = host([plugin({}, 'other')], { store, clock })
    await without.post({ runId: 'r1', tags: ['late'] })
    await without.sallyport.worker.runDue()
    expect(await pendingOf(without)).toEqual(['done'])
    const again = host([signalling({})], { store, clock })
    await again.sallyport.worker.runDue()
    expect(await pendingOf(again)).toEqual([])
  })

  it('A repeated signal stays pending when the run changed while it was published', async () => {
    const app: ReturnType<typeof host> = host([
      signalling({
        signals: () => [{ name: 'changed' }],
        async publish() {
          if (published++ === 0) await app.post({ runId: 'r1', tags: ['meanwhile'] })
          return true
        },
      }),
    ])
    let published = 0
    await app.post({ runId: 'r1' })
    await app.sallyport.worker.runDue()
    await app.sallyport.worker.runDue()
    expect([await pendingOf(app), published >= 2]).toEqual([[], true])
  })
})
