import { afterEach, describe, expect, it } from 'vitest'
import { toNode } from '../../src/adapters/node.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { exampleHost } from '../openapi/host.ts'
import { recordingLogger } from '../support/deps.ts'
import { call, half } from '../support/host-call.ts'
import { HostClock } from '../support/host-clock.ts'
import { listen, type RunningHost } from '../support/hosts/host.ts'

const RUN = '/api/agents/session/run'
const POST = JSON.stringify({ sessionId: 's1', run: { runId: 'r1' } })

const open: RunningHost[] = []
afterEach(async () => {
  for (const running of open.splice(0)) await running.close()
})

/** A host on a real port. A token is a tenant and the name of a principal: `acme.agent`. */
async function start(options: Partial<SallyportOptions<unknown>> = {}) {
  const clock = new HostClock()
  const logger = recordingLogger()
  const auth: SallyportOptions<unknown>['auth'] = {
    async verify(token) {
      const [tenant = '', id = ''] = token.split('.')
      return { tenant, id }
    },
  }
  const { sallyport } = exampleHost({ auth, clock, logger, ...options })
  const running = await listen(toNode(sallyport))
  open.push(running)
  const url = running.url + RUN
  return {
    clock,
    shed: () => logger.lines.filter(({ event }) => event === 'load.shed').map(({ fields }) => fields),
    /** A post whose body stalls. */
    begin: (token: string) => half(url, '{"sessionId":', { authorization: `Bearer ${token}` }),
    post: (token: string) => call(url, { body: POST, headers: { authorization: `Bearer ${token}` } }),
  }
}

/** A verifier that never answers for one token, until `answers` is called. */
function hanging(hangs: string) {
  let count = 0
  let isHanging = true
  let whenAsked = (): void => {}
  const auth: SallyportOptions<unknown>['auth'] = {
    verify(token) {
      if (token !== hangs || !isHanging) return Promise.resolve({ tenant: 'shop', id: 'app' })
      count += 1
      whenAsked()
      return new Promise(() => {})
    },
  }
  return {
    ...auth,
    answers() {
      isHanging = false
    },
    asked: (expected: number) =>
      new Promise<void>((resolve) => {
        whenAsked = () => count === expected && resolve()
        whenAsked()
      }),
  }
}

describe('a host with unfinished requests', () => {
  it('A host answers other requests while one token holds 1,000 unfinished bodies', async () => {
    const { clock, begin, post } = await start()
    const held = Array.from({ length: 1_000 }, () => begin('acme.agent'))
    await clock.pending(1_000)
    const statuses = await Promise.all(Array.from({ length: 239 }, async () => (await post('shop.app')).status))
    expect(statuses.filter((status) => status >= 400)).toEqual([])
    expect((await post('acme.agent')).status).toBeLessThan(300)
    for (const each of held) each.leave()
    await Promise.allSettled(held.map(({ reply }) => reply))
  })

  it('A full host refuses the oldest body of the token with most bodies, for another tenant', async () => {
    const { clock, begin, shed } = await start({ maxUnfinished: 3 })
    const first = begin('acme.agent')
    await clock.pending(1)
    const others = [begin('acme.agent'), begin('acme.agent')]
    await clock.pending(3)
    const slow = begin('shop.app')
    const refused = await first.reply
    expect(refused.json).toMatchObject({ status: 503, code: 'overloaded' })
    expect(refused.headers).toMatchObject({ 'retry-after': '1', connection: 'close' })
    expect(shed()).toEqual([{ unfinished: 3, unfinishedBytes: 3 * 1_024 }])
    slow.finish(POST.slice('{"sessionId":'.length))
    expect((await slow.reply).status).toBe(201)
    for (const each of [first, ...others]) each.leave()
    await Promise.allSettled(others.map(({ reply }) => reply))
  })

  it('A full host refuses the next body of the token that holds all bodies', async () => {
    const { clock, begin } = await start({ maxUnfinished: 2 })
    const held = [begin('acme.agent'), begin('acme.agent')]
    await clock.pending(2)
    const next = begin('acme.agent')
    expect((await next.reply).json).toMatchObject({ status: 503, code: 'overloaded' })
    for (const each of [...held, next]) each.leave()
    await Promise.allSettled(held.map(({ reply }) => reply))
    await clock.pending(0)
    const again = begin('acme.agent')
    await clock.pending(1)
    again.finish(POST.slice('{"sessionId":'.length))
    expect((await again.reply).status).toBe(201)
  })

  it('A host limits requests of one token whose verifier hangs, and forgets those whose caller has left', async () => {
    const verify = hanging('hangs')
    const { post, begin, shed } = await start({ auth: verify, maxUnfinished: 2 })
    const sent = [begin('hangs'), begin('hangs')]
    await verify.asked(2)
    expect((await post('hangs')).json).toMatchObject({ status: 503, code: 'overloaded' })
    expect(shed()).toEqual([{ authenticating: 2 }])
    expect((await post('shop.app')).status).toBe(201)
    sent[0]?.leave()
    await Promise.allSettled([sent[0]?.reply])
    verify.answers()
    let status = 503
    while (status === 503) status = (await post('hangs')).status
    expect(status).toBe(200)
    sent[1]?.leave()
    await Promise.allSettled([sent[1]?.reply])
  })

  it('A host does not count requests whose caller has left while their store hangs', async () => {
    const store = memoryStore()
    let hangs = 1
    const mergeRun: typeof store.mergeRun = (...all) => (hangs-- > 0 ? new Promise(() => {}) : store.mergeRun(...all))
    const { begin, post } = await start({ store: { ...store, mergeRun }, maxInFlight: 1 })
    const sent = begin('acme.agent')
    sent.finish(POST.slice('{"sessionId":'.length))
    while (hangs > 0) await new Promise(setImmediate)
    expect((await post('acme.agent')).status).toBe(503)
    sent.leave()
    await Promise.allSettled([sent.reply])
    let status = 503
    while (status === 503) status = (await post('acme.agent')).status
    expect(status).toBe(201)
  })
})
