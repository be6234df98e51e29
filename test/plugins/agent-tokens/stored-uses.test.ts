import { describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { generateAppSecret, issueSessionToken, sessionTokens } from '../../../src/auth/index.ts'
import { createSallyport } from '../../../src/index.ts'
import { tokenUseRecords } from '../../../src/plugins/agent-tokens/token-use-records.ts'
import { agentTokens } from '../../../src/plugins/index.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { AUDIENCE, GRANT, KEY, PATHS, tokenHost } from './exchanging.ts'

const { secret } = await generateAppSecret({ env: 'test' })

describe('stop() with a store that does not answer', () => {
  it('stop({ graceMs }) waits a second longer than its grace for the uses of tokens, and logs that they are not stored', async () => {
    const clock = fakeClock()
    const store = { ...memoryStore({ clock }), changeRecords: () => new Promise<never>(() => {}) }
    const { sallyport, issue, run, logger } = tokenHost(secret, { clock, options: { store } })
    await run(await issue())
    let isStopped = false
    const stopped = sallyport.stop({ graceMs: 2_000 }).then(() => {
      isStopped = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(2_999)
    await new Promise((resolve) => setImmediate(resolve))
    expect([isStopped, logger.lines]).toEqual([false, []])
    clock.advance(1)
    await stopped
    expect(logger.lines).toMatchObject([
      { level: 'error', event: 'plugin.failed', fields: { plugin: 'agentTokens', hook: 'flush' } },
    ])
  })
})

describe('uses of tokens after an answer', () => {
  it('A host that only records runs stores the uses of tokens in waitUntil', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const sallyport = createSallyport({
      auth: sessionTokens({ keys: [KEY], audience: AUDIENCE, clock }),
      ...{ store, clock, logger: recordingLogger() },
      plugins: [agentTokens()],
    })
    const given: Promise<unknown>[] = []
    const handler = toFetch(sallyport, { waitUntil: (work) => void given.push(work) })
    const token = await issueSessionToken({ sessionId: 's1', key: KEY, audience: AUDIENCE, clock })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ sessionId: 's1', run: { runId: 'r1' } })
    const { status } = await handler(new Request(`http://host${PATHS.run}`, { method: 'POST', headers, body }))
    await Promise.all(given)
    expect([status, given.length]).toEqual([201, 1])
    expect((await tokenUseRecords(store).list({ tenant: 'default', limit: 5 })).items).toHaveLength(1)
  })

  it('A host that dispatches stores the uses of tokens in waitUntil after a dispatch', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const { sallyport, issue } = tokenHost(secret, { clock, options: { store } })
    const given: Promise<unknown>[] = []
    const handler = toFetch(sallyport, { waitUntil: (work) => void given.push(work) })
    const headers = {
      authorization: `Bearer ${await issue({ dispatch: GRANT })}`,
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ eventType: 'e', recipient: 'jane@example.com' })
    await handler(new Request(`http://host${PATHS.dispatch}`, { method: 'POST', headers, body }))
    await Promise.all(given)
    expect((await tokenUseRecords(store).list({ tenant: 'default', limit: 5 })).items).toHaveLength(1)
  })
})
