import { describe, expect, it } from 'vitest'
import { boundedIssues, IssueList, problem, refuse } from '../../../src/core/answers/result.ts'
import { checkJsonSafety } from '../../../src/core/json/safety-check.ts'
import type { Issue } from '../../../src/errors.ts'
import { keysOf, pointerTo } from '../../../src/model/json-pointer.ts'

const issue = (pointer: string): Issue => ({ pointer, code: 'type', detail: '' })

describe('a JSON Pointer', () => {
  it.each([[['a']], [['a/b', 'c~d']], [['~1', '~0', '']], [['~01']]])(
    'A JSON Pointer made of the keys %j is read back as the same keys',
    (keys) => {
      expect(keysOf(keys.reduce(pointerTo, ''))).toEqual(keys)
    },
  )

  it('pointerTo escapes as in RFC 6901', () => {
    expect(['a/b', '~1'].reduce(pointerTo, '')).toBe('/a~1b/~01')
  })
})

describe('a list of faults', () => {
  it('IssueList is full with 50 issues and drops further ones', () => {
    const list = new IssueList()
    for (let count = 0; count < 49; count++) list.add(issue('/a'))
    expect(list.isFull).toBe(false)
    for (const _ of [50, 51]) list.add(issue('/a'))
    expect([list.isFull, list.issues.length]).toEqual([true, 50])
  })

  it('IssueList is full with 8,192 characters of pointers; the last pointer may exceed that', () => {
    const long = (length: number): Issue => issue('/'.repeat(length))
    expect(boundedIssues([long(8_191), long(9_000), issue('/a')])).toHaveLength(2)
    expect(boundedIssues([long(8_192), issue('/a')])).toHaveLength(1)
  })

  it('The issues of an unsafe body are bounded', () => {
    expect(checkJsonSafety(Array.from({ length: 60 }, () => 'a\0'))).toHaveLength(50)
    expect(checkJsonSafety({ 'a\0': 1 })).toMatchObject([{ detail: 'holds a NUL character in a key' }])
  })
})

describe('a body of very many values', () => {
  it('A body holds at most 10,000 values, at any depth', () => {
    expect(checkJsonSafety({ list: Array(9_998).fill(1) })).toEqual([])
    for (const body of [{ list: Array(9_999).fill(1) }, Array.from({ length: 5_000 }, () => [1])])
      expect(checkJsonSafety(body)).toEqual([{ pointer: '', code: 'too_many', detail: 'holds more than 10000 values' }])
  })
})

describe('a problem', () => {
  it('A problem has limit and errors only if there are any', () => {
    const bare = problem<never>(refuse('invalid_token', 'd'), 'req_1').body
    expect(Object.keys(bare).sort()).toEqual(['code', 'detail', 'requestId', 'status', 'title', 'type'])
    expect(problem(refuse('body_too_large', 'd', { limit: 5, errors: [issue('/a')] }), 'req_1').body).toMatchObject({
      status: 413,
      limit: 5,
      errors: [issue('/a')],
    })
  })
})
