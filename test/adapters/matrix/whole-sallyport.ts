import { describe, expect, it } from 'vitest'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { call } from '../../support/host-call.ts'
import type { Host } from '../../support/hosts/host.ts'
import { orderSallyport } from './order-sallyport.ts'
import { DISPATCH, RUN } from './paths.ts'
import { EVENT, POST } from './refusal-row.ts'

/** Tests of a complete Sallyport in the host, with its own state. */
export function testWholeSallyport({ start }: Host): void {
  describe('accepted requests', () => {
    it('A host accepts an event and a run, and replays an idempotency key', async () => {
      const host = await start(orderSallyport())
      try {
        const key = { 'idempotency-key': 'k1' }
        const first = await call(host.url + DISPATCH, {
          headers: { ...key, authorization: 'Bearer app' },
          body: JSON.stringify(EVENT),
        })
        const again = await call(host.url + DISPATCH, {
          headers: { ...key, authorization: 'Bearer app' },
          body: JSON.stringify(EVENT),
        })
        const other = await call(host.url + DISPATCH, {
          headers: { ...key, authorization: 'Bearer app' },
          body: JSON.stringify({ ...EVENT, eventData: { orderId: 'A2' } }),
        })
        expect([first.status, first.json.duplicate, again.status, again.json]).toEqual([
          202,
          false,
          202,
          { ...first.json, duplicate: true },
        ])
        expect(again.headers['idempotent-replayed']).toBe('true')
        expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
        const created = await call(host.url + RUN, {
          headers: { authorization: 'Bearer session' },
          body: JSON.stringify(POST),
        })
        const repeated = await call(host.url + RUN, {
          headers: { authorization: 'Bearer session' },
          body: JSON.stringify(POST),
        })
        expect([created.status, repeated.status, repeated.json.changed]).toEqual([201, 200, false])
      } finally {
        await host.close()
      }
    })
  })

  describe('refusals by state', () => {
    const down = async (): Promise<never> => {
      throw new Error('the database is down')
    }

    it.each<[string, Partial<SallyportOptions<unknown>>, string, unknown, number, string]>([
      ['a run of a missing session', { sessions: 'must-exist' }, RUN, POST, 404, 'session_not_found'],
      [
        'a dispatch while the store is down',
        { store: { ...memoryStore(), accept: down } },
        DISPATCH,
        EVENT,
        503,
        'store_unavailable',
      ],
      [
        'a run while the store is down',
        { store: { ...memoryStore(), mergeRun: down } },
        RUN,
        POST,
        503,
        'store_unavailable',
      ],
    ])('A host refuses %s', async (_, options, path, body, status, code) => {
      const host = await start(orderSallyport(options))
      try {
        const reply = await call(host.url + path, {
          headers: { authorization: 'Bearer app' },
          body: JSON.stringify(body),
        })
        expect([reply.status, reply.json.code, reply.headers['retry-after']]).toEqual([
          status,
          code,
          status === 503 ? '1' : undefined,
        ])
      } finally {
        await host.close()
      }
    })
  })
}
