import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import Koa from 'koa'
import { describe, expect, test } from 'vitest'
import { toExpress } from '../../src/adapters/express.ts'
import { toFetch } from '../../src/adapters/fetch.ts'
import { toKoa } from '../../src/adapters/koa.ts'
import { toNode } from '../../src/adapters/node.ts'
import type { MountOptions } from '../../src/http/mount.ts'
import { call } from '../support/host-call.ts'
import { FakeEndpoints } from '../support/host-endpoints.ts'
import { closedAfterEach } from '../support/hosts/closed-after-each.ts'
import { listen } from '../support/hosts/host.ts'

const PATH = '/api/outbound/openapi.json'
const openapi = { openapi: '3.1.1', info: { title: 'Zoë', version: '1' }, paths: {} }
const sallyport = () => ({ endpoints: new FakeEndpoints() })

const HOSTS: Readonly<Record<string, (options: MountOptions) => RequestListener>> = {
  toExpress: (options) => express().use(toExpress(sallyport(), options)),
  toKoa: (options) => new Koa().use(toKoa(sallyport(), options)).callback(),
  toNode: (options) => toNode(sallyport(), options),
  toFetch: (options) => getRequestListener(toFetch(sallyport(), options)),
}

describe.each(Object.entries(HOSTS))('the OpenAPI document served by %s', (_name, hostOf) => {
  const closing = closedAfterEach()
  async function start(options: MountOptions): Promise<string> {
    return closing(await listen(hostOf(options))).url
  }
  const headers = { authorization: undefined, 'content-type': undefined }

  test('The adapter serves a given OpenAPI document to every caller', async () => {
    const url = await start({ openapi, basePath: '/v1' })
    const reply = await call(`${url}/v1${PATH}`, { method: 'GET', headers })
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toMatch(/^application\/json/)
    expect(Number(reply.headers['content-length'])).toBe(reply.bytes.byteLength)
    expect(reply.json).toEqual(openapi)
    expect((await call(`${url}/v1${PATH}/?a=1`, { method: 'GET', headers })).json).toEqual(openapi)
    expect((await call(`${url}/v1${PATH}//`, { method: 'GET', headers })).status).toBe(404)
    const head = await call(`${url}/v1${PATH}`, { method: 'HEAD', headers })
    expect([head.status, head.text]).toEqual([200, ''])
    const post = await call(`${url}/v1${PATH}`, { headers, body: '{}' })
    expect([post.status, post.headers.allow, post.json.code]).toEqual([405, 'GET, HEAD', 'method_not_allowed'])
  })

  test('The adapter serves no OpenAPI document without the option', async () => {
    const url = await start({})
    expect((await call(url + PATH, { method: 'GET', headers })).status).toBe(404)
  })

  test.each([null, '3.1', {}])('The adapter refuses the openapi option %j at start-up', (odd) => {
    expect(() => hostOf({ openapi: odd as never })).toThrow(
      'must be an OpenAPI document: openapiDocument() of sallyport/openapi',
    )
  })
})
