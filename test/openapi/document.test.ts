import { describe, expect, it } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { CALLER_CODES } from '../../src/errors.ts'
import { openapiDocument } from '../../src/openapi/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { ALL_CALLS, ALL_POSTS } from '../support/actions.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { everyRunPlugin } from '../support/every-plugin.ts'
import { events } from './host.ts'
import { lint } from './lint.ts'

const document = openapiDocument()

const operations = Object.values(document.paths).flatMap(({ get, post }) => [get ?? [], post ?? []].flat())

describe('the OpenAPI document', () => {
  it('The OpenAPI document is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
  })

  it('Each call of openapiDocument() returns an equal document', () => {
    expect(openapiDocument()).toEqual(document)
  })

  it('The OpenAPI document shares no object with another document or within itself', () => {
    const objects = [openapiDocument(), openapiDocument()].flatMap(objectsIn)
    expect(new Set(objects).size).toBe(objects.length)
  })

  it('The OpenAPI document passes the strict rules of an independent linter', async () => {
    expect(await lint(document)).toEqual([])
  })

  it('The OpenAPI document contains exactly the routes', () => {
    const routes = [...ALL_POSTS, ...ALL_CALLS]
    expect(Object.keys(document.paths).sort()).toEqual(routes.map(({ path }) => path).sort())
    for (const { path, method } of routes)
      expect(Object.keys(document.paths[path] ?? {})).toEqual([method.toLowerCase()])
  })

  it('The OpenAPI document contains every problem code, with an example', () => {
    const { schemas } = document.components
    expect(schemas.ProblemCode).toMatchObject({ enum: CALLER_CODES })
    const examples = Object.values(document.components.examples).map(({ value }) => value)
    // Those of approvals are no codes of a post.
    const posted = CALLER_CODES.filter((code) => !code.startsWith('approval_'))
    expect(posted.filter((code) => !examples.some((value) => Object(value).code === code))).toEqual([])
  })

  it('The OpenAPI document describes every operation, parameter, header and response', () => {
    for (const { operationId, summary, description, tags, requestBody } of operations) {
      const texts = [operationId, summary, description, requestBody?.description ?? 'no body']
      expect(texts.every((text) => text.length > 3)).toBe(true)
      expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining([...tags]))
    }
    const { parameters, headers, responses } = document.components
    const described = [parameters, headers, responses].flatMap((kind) => Object.values<{ description: string }>(kind))
    expect(described.filter(({ description }) => description === '')).toEqual([])
  })
})

describe('the options of openapiDocument', () => {
  it('openapiDocument() takes a title, a version and servers', async () => {
    const servers = [{ url: 'https://api.shop.test/v1', description: 'The shop' }]
    const own = openapiDocument({ title: 'The shop', version: '7', servers })
    expect(own).toMatchObject({ info: { title: 'The shop', version: '7' }, servers })
    expect(await lint(own)).toEqual([])
  })

  it('openapiDocument() limits eventType to the events of a catalogue', async () => {
    const own = openapiDocument({ events })
    expect(own.components.schemas.DispatchRequest).toMatchObject({
      properties: { eventType: { enum: ['order.shipped', 'shop.closed'] } },
    })
    expect(await lint(own)).toEqual([])
  })

  it('openapiDocument() describes what a host offers: one that only records runs has no dispatches', async () => {
    const plugins = everyRunPlugin()
    const sallyport = createSallyport({ auth: testAuth, store: memoryStore(), logger: recordingLogger(), plugins })
    const own = openapiDocument({ sallyport })
    // Statistics count runs too, and approvals dispatch.
    const isOffered = (path: string) =>
      (path.startsWith('/api/agents/') && !path.includes('/approval')) || path === '/api/outbound/stats'
    const offered = Object.keys(document.paths).filter(isOffered)
    expect(Object.keys(own.paths)).toEqual(offered)
    expect(own.paths).toEqual(Object.fromEntries(offered.map((path) => [path, document.paths[path]])))
    expect(Object.keys(own.components.schemas)).not.toContain('DispatchRequest')
    expect(await lint(own)).toEqual([])
  })

  it('openapiDocument() refuses a sallyport without endpoints', () => {
    expect(() => openapiDocument({ sallyport: {} as never })).toThrow(/sallyport.*must be what createSallyport/s)
  })

  it('openapiDocument() refuses events without eventTypes, by name', () => {
    expect(() => openapiDocument({ events: {} as never })).toThrow(/^openapiDocument:\s.*events.*has no eventTypes/s)
  })

  it('openapiDocument() leaves out examples of events missing in the catalogue', async () => {
    const own = openapiDocument({ events: { eventTypes: ['user.left'] } })
    const body = own.paths['/api/outbound/dispatch']?.post?.requestBody?.content['application/json']
    expect(body).toEqual({ schema: { $ref: '#/components/schemas/DispatchRequest' } })
    expect(await lint(own)).toEqual([])
  })
})

function objectsIn(value: unknown): object[] {
  return typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(objectsIn)] : []
}
