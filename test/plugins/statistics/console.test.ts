import { expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createConsole } from '../../../src/console/index.ts'
import { createSallyport } from '../../../src/index.ts'
import { statistics } from '../../../src/plugins/statistics/statistics.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'

function get(path: string, access: 'none' | 'read'): Promise<Response> {
  const ports = { auth: testAuth, store: memoryStore(), logger: recordingLogger() }
  const sallyport = createSallyport({ ...ports, plugins: [statistics()] })
  const answer = toFetch(createConsole(sallyport, { access: () => access }))
  return answer(new Request(`http://127.0.0.1${path}`))
}

it.each([
  ['/api/outbound/stats?window=999d', 422],
  ['/api/outbound/stats?step=1s', 422],
  ['/api/outbound/stats?window=1h&step=1m', 200],
])('In the console, %s is %i', async (path, status) => {
  const answer = await get(path, 'read')
  const type = status === 200 ? 'application/json' : 'application/problem+json'
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type])
})

it('Without access to the console, statistics are 404', async () => {
  expect((await get('/api/outbound/stats', 'none')).status).toBe(404)
})
