import { describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchRequest } from '../../src/model/dispatch.ts'
import type { Plugin, PluginCore, PluginPlanOptions } from '../../src/plugins/plugin.ts'
import { APP } from '../support/deps.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { composed } from './composed.ts'

const events = defineEvents({
  ask: { channels: { a: { text: () => 'May I?' } } },
  tell: { channels: { a: { text: () => 'Done' } } },
})
const ASK = { eventType: 'ask', recipient: 'ada@example.com' } as const satisfies DispatchRequest

function host() {
  let held: PluginCore | undefined
  const plugin: Plugin = {
    name: 'own',
    setup(core) {
      held = core
      return { ownEvents: ['ask'] }
    },
  }
  const a = recordingChannel()
  const app = composed<unknown>(events, { channels: { a }, plugins: [plugin] })
  const core = held ?? expect.fail('was not set up')
  async function planned(options?: PluginPlanOptions): Promise<string> {
    const one = await core.plan?.('default', ASK, options)
    if (!one || !('preview' in one)) return expect.fail(`not planned: ${JSON.stringify(one)}`)
    expect(await core.commit({ accept: [one] })).toMatchObject({ outcome: 'committed' })
    return one.dispatchId
  }
  return { ...app, core, a, planned }
}

const REFUSED = { code: 'insufficient_scope', detail: 'Only a plugin of the host dispatches this event.' }

describe('events of a plugin', () => {
  it('core.plan dispatches them', async () => {
    const { sallyport, planned, a } = host()
    await planned()
    await sallyport.worker.runDue()
    expect(a.sent).toMatchObject([{ eventType: 'ask' }])
  })

  it('Every other dispatch of one is refused, and stores nothing; other events are not', async () => {
    const { sallyport, core } = host()
    const handle = toFetch(sallyport)
    const post = async (query = ''): Promise<unknown> => {
      const headers = { ...APP, 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(ASK) }
      return (await handle(new Request(`http://shop.test/api/outbound/dispatch${query}`, init))).json()
    }
    const refused = { ok: false, status: 403, body: REFUSED }
    expect(await sallyport.dispatch(ASK)).toMatchObject(refused)
    expect(await core.dispatch?.('default', ASK)).toMatchObject(refused)
    expect(await post()).toMatchObject(REFUSED)
    await expect(sallyport.dispatchOrThrow(ASK)).rejects.toMatchObject({ code: 'insufficient_scope', status: 403 })
    expect((await sallyport.dispatches.list()).items).toEqual([])
    expect(await post('?dryRun=true')).toMatchObject({ dryRun: true, status: 'queued' })
    expect(await sallyport.dispatch({ ...ASK, eventType: 'tell' })).toMatchObject({ ok: true })
  })
})

describe('options of core.plan', () => {
  it('A dispatch is recorded by `by`, waits for `delayMs`, and expires after `expiresInMs`', async () => {
    const { sallyport, clock, planned, a } = host()
    const dispatchId = await planned({ by: 'agent_7', delayMs: 60_000, expiresInMs: 1_000 })
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ by: 'agent_7' })
    await sallyport.worker.runDue()
    expect(a.sent).toEqual([])
    clock.advance(61_001)
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ deliveries: [{ status: 'expired' }] })
  })

  it('Without them, it is recorded by the host, and expires as its other dispatches do', async () => {
    const { sallyport, clock, planned, a } = host()
    const dispatchId = await planned()
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ by: 'host' })
    clock.advance(71 * 3_600_000)
    await sallyport.worker.runDue()
    expect(a.sent).toHaveLength(1)
  })
})
