import { describe, expect, test } from 'vitest'
import { call } from '../../support/host-call.ts'
import { HOST_ANSWER, type Host } from '../../support/hosts/host.ts'
import { BATCH, DISPATCH, RUN } from './paths.ts'
import { starterOf } from './started.ts'

/** Tests of base paths, and of the routes of the host beside Sallyport. */
export function testMounts(host: Host): void {
  const start = starterOf(host)

  describe('mounts', () => {
    test('A base path mounts the endpoints there and nowhere else', async () => {
      const { url } = await start({ basePath: '/notify/v1' })
      for (const path of [DISPATCH, RUN, BATCH]) {
        const reply = await call(`${url}/notify/v1${path}?a=%C3%A4`, { body: '{"a":"ä"}' })
        expect(reply.json).toMatchObject({ body: { a: 'ä' }, query: { a: 'ä' } })
        expect((await call(`${url}/notify/v1${path}`, { method: 'PUT' })).headers.allow).toBe('POST')
        expect((await call(url + path, { body: '{}' })).text).toBe(HOST_ANSWER)
      }
    })

    const { mounts } = host
    if (mounts === 'strips') {
      test('The endpoints answer below a prefix removed by the framework', async () => {
        const { url, endpoints } = await start({ mountPath: '/v1' })
        for (const path of [DISPATCH, RUN, BATCH]) {
          const reply = await call(`${url}/v1${path}?a=%C3%A4`, { body: ['{"a":', '"ä"}'] })
          expect(reply.json).toMatchObject({ body: { a: 'ä' }, query: { a: 'ä' } })
          expect((await call(`${url}/v1${path}`, { headers: { authorization: undefined } })).status).toBe(401)
        }
        expect(endpoints.handled).toHaveLength(3)
        await call(url + RUN, { body: '{}' })
        expect(endpoints.handled).toHaveLength(3)
      })

      test('A mount at /api is logged once, and answers nothing', async () => {
        const { url, endpoints } = await start({ mountPath: '/api' })
        for (const path of [DISPATCH, RUN, DISPATCH]) await call(`${url}${path}?a=1`, { body: '{}' })
        expect(endpoints.handled).toEqual([])
        expect(endpoints.logger.lines).toMatchObject([
          { event: 'mount.missed', fields: { detail: expect.stringContaining('the host took off /api') } },
        ])
      })
    } else {
      test.skip(`A prefix removed by the framework is not tested: ${mounts.whole}`)
    }

    test('The routes of the host keep their own body parser', async () => {
      const { url, endpoints } = await start()
      for (let times = 0; times < 2; times++) {
        expect((await call(`${url}/own/json`, { body: '{"a":"ü"}' })).json).toEqual({ own: { a: 'ü' } })
        expect((await call(url + RUN, { body: '{"a":"ü"}' })).status).toBe(201)
        expect((await call(url + RUN, { body: '{"a":"ü"' })).status).toBe(400)
        expect((await call(`${url}/own/json`, { body: ['{"a":', '[1]}'] })).json).toEqual({ own: { a: [1] } })
      }
      expect(endpoints.handled).toHaveLength(2)
    })
  })
}
