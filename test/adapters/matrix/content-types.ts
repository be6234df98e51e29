import { describe, expect, test } from 'vitest'
import { call } from '../../support/host-call.ts'
import type { Host } from '../../support/hosts/host.ts'
import { RUN } from './paths.ts'
import { starterOf } from './started.ts'

/** Tests of the headers Content-Type and Content-Encoding. */
export function testContentTypes(host: Host): void {
  const start = starterOf(host)

  describe('content types', () => {
    test.each([
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;Charset="UTF-8"',
      'application/json ; profile=x;',
    ])('The content type %s is accepted', async (type) => {
      const { url } = await start()
      expect((await call(url + RUN, { headers: { 'content-type': type }, body: '{}' })).status).toBe(201)
    })

    test.each([
      undefined,
      '',
      'json',
      'text/plain',
      'text/json',
      'application/problem+json',
      'application/jsonx',
      'application/json, text/plain',
      'application/json; charset=utf-16',
      'application/json; charset=utf-8; charset=latin1',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=application/json',
      '%ff;;=',
    ])('The content type %s is refused with 415', async (type) => {
      const { url, endpoints } = await start()
      const reply = await call(url + RUN, { headers: { 'content-type': type }, body: '{}' })
      expect(reply.status).toBe(415)
      expect(reply.json).toMatchObject({ code: 'unsupported_media_type' })
      expect(reply.headers.accept).toBe('application/json')
      expect(endpoints.handled).toEqual([])
    })

    test.each(['gzip', 'br', 'identity, gzip', 'x'])(
      'The content encoding %s is refused with 415',
      async (encoding) => {
        const { url } = await start()
        const reply = await call(url + RUN, { headers: { 'content-encoding': encoding }, body: '{}' })
        expect(reply.status).toBe(415)
        expect(reply.headers['accept-encoding']).toBe('identity')
      },
    )

    test('The content encoding identity is accepted', async () => {
      const { url } = await start()
      const reply = await call(url + RUN, { headers: { 'content-encoding': 'Identity' }, body: '{}' })
      expect(reply.status).toBe(201)
    })
  })
}
