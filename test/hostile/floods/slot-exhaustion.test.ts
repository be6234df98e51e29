import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { call } from '../../support/host-call.ts'
import { floodedHost, RUN } from './flooded-host.ts'

/** A store in which posts about the session `stuck` hang. `stuck(n)` resolves when that many hang. */
function stuckStore() {
  const store = memoryStore()
  let count = 0
  let whenStuck = (): void => {}
  const mergeRun = ((...given: Parameters<typeof store.mergeRun>) => {
    if (!JSON.stringify(given).includes('"stuck"')) return store.mergeRun(...given)
    count += 1
    whenStuck()
    return new Promise(() => {})
  }) as typeof store.mergeRun
  const stuck = (expected: number): Promise<void> =>
    new Promise((resolve) => {
      whenStuck = () => count >= expected && resolve()
      whenStuck()
    })
  return { store: { ...store, mergeRun }, stuck }
}

function post(url: string, token: string, sessionId = 'free') {
  const body = JSON.stringify({ sessionId, run: { runId: `${sessionId}:${token}` } })
  return call(url + RUN, { body, headers: { authorization: `Bearer ${token}` } })
}

async function statusesOf(url: string, token: string): Promise<number[]> {
  const sent = Array.from({ length: 100 }, () => post(url, token))
  return [...new Set((await Promise.all(sent)).map(({ status }) => (status < 300 ? 200 : status)))]
}

test.each([
  ['another tenant', 'shop.app'],
  ['the application of its tenant', 'acme.app'],
])(
  'A token with 1,000 requests that hang in the store pushes out no request of %s',
  { timeout: 120_000 },
  async (_, token) => {
    const { store, stuck } = stuckStore()
    const { url } = await floodedHost(undefined, { store })
    for (let at = 0; at < 1_000; at++) void post(url, 'acme.agent.stuck', 'stuck').catch(() => {})
    await stuck(1_000)
    expect((await post(url, 'acme.agent.stuck', 'stuck')).json).toMatchObject({ status: 503, code: 'overloaded' })
    expect(await statusesOf(url, token)).toEqual([200])
  },
)
