import { describe, expect, it } from 'vitest'
import type { AuthVerifier } from '../../../src/ports/auth-verifier.ts'
import { call } from '../../support/host-call.ts'
import type { Host } from '../../support/hosts/host.ts'
import { orderSallyport } from './order-sallyport.ts'
import { DISPATCH, RUN } from './paths.ts'
import { EVENT } from './refusal-row.ts'

const auth: AuthVerifier = {
  verify: async () => ({ id: 'app', tenant: 'default', operations: ['dispatch', 'session_run', 'read', 'manage'] }),
}

const DISPATCHES = '/api/outbound/dispatches'

/** Tests of the read API in the host. */
export function testReads({ start }: Host): void {
  describe('the read API', () => {
    it('A host answers reads, conditional reads, HEAD, and changes with and without a body', async () => {
      const { url, close } = await start(orderSallyport({ auth }))
      const bare = { 'content-type': undefined }
      try {
        const { json } = await call(url + DISPATCH, { body: JSON.stringify(EVENT) })
        const path = `${url}${DISPATCHES}/${json.dispatchId}`
        const read = await call(`${path}?content=true`, { method: 'GET', headers: bare })
        expect([read.status, read.json.dispatchId]).toEqual([200, json.dispatchId])
        const headers = { ...bare, 'if-none-match': read.headers.etag }
        const same = await call(`${path}?content=true`, { method: 'GET', headers })
        expect([same.status, same.text, same.headers.etag]).toEqual([304, '', read.headers.etag])
        const head = await call(url + DISPATCHES, { method: 'HEAD', headers: bare })
        expect([head.status, head.text]).toEqual([200, ''])
        const listed = await call(`${url}${DISPATCHES}?limit=1&eventType=order.shipped`, {
          method: 'GET',
          headers: bare,
        })
        expect(listed.json.items).toHaveLength(1)
        const cancelled = await call(`${path}/cancel`, { headers: bare })
        // A host that delivers after its answer may have sent it already.
        expect([cancelled.status, cancelled.json.dispatch.dispatchId]).toEqual([200, json.dispatchId])
        const retried = await call(`${path}/retry`, { body: '{"channel":"email"}' })
        expect([retried.status, retried.json.retried]).toEqual([200, []])
        expect((await call(path, { body: '{}' })).headers.allow).toBe('GET, HEAD')
      } finally {
        await close()
      }
    })

    it('A host passes an escaped id in the path', async () => {
      const { url, close } = await start(orderSallyport({ auth }))
      try {
        await call(url + RUN, { body: JSON.stringify({ sessionId: 'a/b?%', run: { runId: 'r1' } }) })
        const path = `${url}/api/agents/sessions/${encodeURIComponent('a/b?%')}/runs/r1`
        const { status, json } = await call(path, { method: 'GET', headers: { 'content-type': undefined } })
        expect([status, json.sessionId]).toEqual([200, 'a/b?%'])
      } finally {
        await close()
      }
    })
  })
}
