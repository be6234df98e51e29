import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../../support/host-call.ts'
import type { Host, RunningHost } from '../../support/hosts/host.ts'
import { ACCESS_REFUSALS } from './access-refusals.ts'
import { DISPATCH_REFUSALS } from './dispatch-refusals.ts'
import { orderSallyport } from './order-sallyport.ts'
import { RUN } from './paths.ts'
import type { Row } from './refusal-row.ts'
import { RUN_REFUSALS, TAKEN } from './run-refusals.ts'

const ROWS = { ...ACCESS_REFUSALS, ...DISPATCH_REFUSALS, ...RUN_REFUSALS }

/** Tests of every refusal of a complete Sallyport. */
export function testRefusals({ name, start, parser: canParse }: Host): void {
  describe.each(canParse === 'first' ? [false, true] : [false])('refusals, host parser: %s', (parser) => {
    let host: RunningHost

    beforeAll(async () => {
      host = await start(orderSallyport(), { parser })
      await call(host.url + RUN, { headers: authorization({}), body: JSON.stringify(TAKEN) })
    })
    afterAll(() => host.close())

    it.each(Object.entries(ROWS))('A request is refused for %s', async (_, row) => {
      const reply = await call(host.url + row.path, {
        headers: { ...row.headers, ...authorization(row) },
        body: typeof row.body === 'string' ? row.body : JSON.stringify(row.body),
      })
      const { status, code, pointers, headers = {} } = row.answer
      if (parser && row.parserAnswers?.test(name)) {
        expect(reply.status).toBeGreaterThanOrEqual(400)
        expect(reply.status).toBeLessThan(600)
        return
      }
      expect([reply.status, reply.json?.code]).toEqual([status, code])
      expect(reply.headers['content-type']).toBe('application/problem+json')
      expect(reply.headers).toMatchObject(headers)
      if (pointers) expect(reply.json.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers)
      expect(reply.json.requestId).toMatch(/^req_/)
    })
  })
}

function authorization(row: Partial<Row>): { authorization: string | undefined } {
  const token = 'token' in row ? row.token : 'app'
  return { authorization: token === undefined ? undefined : `Bearer ${token}` }
}
