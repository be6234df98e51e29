import { describe, expect, it } from 'vitest'
import { handleDispatch } from '../../../src/core/dispatch/handle-dispatch.ts'
import { SESSION_ID_EXPECTED } from '../../../src/model/principal.ts'
import { APP, testDeps } from '../../support/deps.ts'
import { accepted, ORDER, places, post, refused, stored } from './dispatching.ts'

const long = (length: number) => 'x'.repeat(length)

describe('a field of the body', () => {
  it.each<[string, unknown, string, string]>([
    ['eventType', undefined, 'required', 'is required'],
    ['eventType', null, 'type', 'expected string'],
    ['eventType', 5, 'type', 'expected string'],
    ['eventType', ['order.shipped'], 'type', 'expected string'],
    ['eventType', 'order shipped', 'format', 'expected only A-Z a-z 0-9 . _ -'],
    ['eventType', 'örder', 'format', 'expected only A-Z a-z 0-9 . _ -'],
    ['eventType', long(257), 'too_long', 'expected at most 256 characters'],
    ['recipient', undefined, 'required', 'is required'],
    ['recipient', { email: 'a@b.example' }, 'type', 'expected string'],
    ['recipient', 42, 'type', 'expected string'],
    ['recipient', '', 'too_short', 'expected at least 1 character'],
    ['recipient', long(2_049), 'too_long', 'expected at most 2048 characters'],
    ['eventData', [], 'type', 'expected object'],
    ['eventData', 'x', 'type', 'expected object'],
    ['channel', ['email'], 'type', 'expected string'],
    ['channel', '', 'too_short', 'expected at least 1 character'],
    ['channel', long(65), 'too_long', 'expected at most 64 characters'],
    ['sessionId', 7, 'type', 'expected string'],
    ['sessionId', 's 1', 'format', SESSION_ID_EXPECTED],
    ['sessionId', 's\t', 'format', SESSION_ID_EXPECTED],
    ['sessionId', 'sé', 'format', SESSION_ID_EXPECTED],
    ['sessionId', '..', 'format', SESSION_ID_EXPECTED],
    ['sessionId', long(201), 'too_long', 'expected at most 200 characters'],
  ])('The field %s with the value %j is refused as %s', async (field, value, code, detail) => {
    const deps = testDeps()
    const { [field]: _, ...rest } = ORDER as Record<string, unknown>
    const body = value === undefined ? rest : { ...rest, [field]: value }
    expect(await refused(deps, body)).toMatchObject({
      status: 422,
      code: 'validation_failed',
      detail: 'One place in the body cannot be accepted.',
      errors: [{ pointer: `/${field}`, code, detail }],
    })
    expect(await stored(deps)).toEqual([])
  })

  it.each([
    ['eventType', ''],
    ['sessionId', ''],
  ])('An empty %s is refused', async (field, value) => {
    const problem = await refused(testDeps(), { ...ORDER, [field]: value })
    expect(places(problem)).toContainEqual([`/${field}`, 'too_short'])
  })

  it('Each field of a body may be as long as its documented limit', async () => {
    const answer = await post(testDeps(), { ...ORDER, sessionId: long(200) })
    expect(answer.status).toBe(202)
    expect(places(await refused(testDeps(), { ...ORDER, eventType: long(256) }))).toEqual([
      ['/eventType', 'not_allowed'],
    ])
  })

  it('An optional field may be absent, null, or undefined in a library call', async () => {
    const { eventData, ...rest } = ORDER
    expect(places(await refused(testDeps(), rest)).map(([pointer]) => pointer)).toEqual([
      '/eventData/orderId',
      '/eventData/total',
    ])
    const answer = await post(testDeps(), { ...rest, eventData, channel: null, sessionId: undefined })
    expect(answer.status).toBe(202)
  })
})

describe('a body', () => {
  it('The answer lists all issues of a body at once', async () => {
    const problem = await refused(testDeps(), { recipient: 5, eventData: [], channel: 6, sessionId: ' ' })
    expect(problem.detail).toBe('5 places in the body cannot be accepted.')
    expect(places(problem)).toEqual([
      ['/eventType', 'required'],
      ['/recipient', 'type'],
      ['/eventData', 'type'],
      ['/channel', 'type'],
      ['/sessionId', 'format'],
    ])
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'x'],
    ['a number', 1],
    ['a list', [ORDER]],
  ])('A body that is %s is refused', async (_, body) => {
    expect(await handleDispatch({ headers: APP, body }, testDeps())).toMatchObject({
      status: 422,
      body: { code: 'validation_failed' },
    })
  })

  it('Unknown fields are dropped and named in warnings', async () => {
    const deps = testDeps()
    const answer = await accepted(deps, { ...ORDER, event_type: 'x', 'a/b': { c: 1 }, constructor: 1 })
    const reported = { code: 'unknown_field', detail: 'is not known here and was dropped' }
    expect(answer.warnings).toEqual([
      { ...reported, pointer: '/event_type' },
      { ...reported, pointer: '/a~1b' },
      { ...reported, pointer: '/constructor' },
    ])
    expect(JSON.stringify(await stored(deps))).not.toContain('event_type')
  })

  it.each<[string, string, string]>([
    ['too many levels', `{"a":${'['.repeat(31)}${']'.repeat(31)}}`, `/eventData/a${'/0'.repeat(30)}`],
    ['a NUL', '{"a":"\\u0000"}', '/eventData/a'],
    ['a lone surrogate', '{"a":"\\udc00"}', '/eventData/a'],
    ['a __proto__ key', '{"__proto__":{"admin":true}}', '/eventData/__proto__'],
    ['an infinite number', '{"a":[1e400]}', '/eventData/a/0'],
    ['an integer over 2^53', '{"a":9007199254740993}', '/eventData/a'],
  ])('A body with %s in its data is refused with the place', async (_, eventData, pointer) => {
    const problem = await refused(testDeps(), { ...ORDER, eventData: JSON.parse(eventData) })
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed', errors: [{ pointer }] })
  })
})
