import { describe, expect, it } from 'vitest'
import { jsonFeed } from '../../src/integrations/json-feed.ts'
import type { Members } from '../../src/integrations/untyped.ts'

const utf8 = new TextEncoder()

/** What is given out of a text that comes in pieces of so many bytes. */
function fed(text: string, { isStreamed = true, size = text.length } = {}): Members[] {
  const given: Members[] = []
  const feed = jsonFeed(isStreamed, (value) => given.push(value))
  const bytes = utf8.encode(text)
  for (let at = 0; at < bytes.length; at += size) feed.write(bytes.subarray(at, at + size))
  feed.end()
  return given
}

describe('a stream of events', () => {
  it('is given out event by event, also the last, whose line has no end', () => {
    expect(fed('event: a\ndata: {"n":1}\n\ndata: [DONE]\n\ndata:{"n":2}')).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('is given out whole lines at a time: what breaks off is not', () => {
    expect(fed('data: {"n":1}\n\ndata: {"n":')).toEqual([{ n: 1 }])
  })

  it('passes over an event that is too long, at its end as in its midst', () => {
    const long = `data: {"x":"${'x'.repeat(4 * 1024 * 1024)}"}`
    expect(fed(`${long}\ndata: {"n":1}\n${long}`, { size: 65_536 })).toEqual([{ n: 1 }])
  })

  it('passes over all of an event that is too long, whatever its rest looks like', () => {
    const size = 4 * 1024 * 1024
    expect(fed(`${'x'.repeat(size)}x${'x'.repeat(size - 1)}data: {"n":1}\ndata: {"n":2}\n`, { size })).toEqual([
      { n: 2 },
    ])
  })

  // In quadratic time it takes minutes, and the runner gives it up.
  it('of one long event is read in linear time', () => {
    const length = 4 * 1024 * 1024 - 100
    const [value] = fed(`data: {"x":"${'x'.repeat(length)}"}\n\n`, { size: 64 })
    expect(String(value?.x)).toHaveLength(length)
  })
})

describe('a whole answer', () => {
  it('is given out at its end, wherever it is cut', () => {
    expect(fed('{"greeting":"Grüß 👋"}', { isStreamed: false, size: 1 })).toEqual([{ greeting: 'Grüß 👋' }])
  })
})
