import { describe, expect, it } from 'vitest'
import { jsonFeed } from '../../src/integrations/json-feed.ts'
import type { Members } from '../../src/integrations/untyped.ts'

const utf8 = new TextEncoder()

/** Values that the feed emits for a text in pieces of `size` bytes. */
function fed(text: string, { isStreamed = true, size = text.length } = {}): Members[] {
  const given: Members[] = []
  const feed = jsonFeed(isStreamed, (value) => given.push(value))
  const bytes = utf8.encode(text)
  for (let at = 0; at < bytes.length; at += size) feed.write(bytes.subarray(at, at + size))
  feed.end()
  return given
}

describe('a stream of events', () => {
  it('jsonFeed() emits each event, and the last one without a line end', () => {
    expect(fed('event: a\ndata: {"n":1}\n\ndata: [DONE]\n\ndata:{"n":2}')).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('jsonFeed() does not emit an incomplete event', () => {
    expect(fed('data: {"n":1}\n\ndata: {"n":')).toEqual([{ n: 1 }])
  })

  it('jsonFeed() skips an event that is too long, in the middle and at the end', () => {
    const long = `data: {"x":"${'x'.repeat(4 * 1024 * 1024)}"}`
    expect(fed(`${long}\ndata: {"n":1}\n${long}`, { size: 65_536 })).toEqual([{ n: 1 }])
  })

  it('jsonFeed() skips the whole rest of an event that is too long', () => {
    const size = 4 * 1024 * 1024
    expect(fed(`${'x'.repeat(size)}x${'x'.repeat(size - 1)}data: {"n":1}\ndata: {"n":2}\n`, { size })).toEqual([
      { n: 2 },
    ])
  })

  // Quadratic time would take minutes and exceed the time-out.
  it('jsonFeed() reads one long event in linear time', () => {
    const length = 4 * 1024 * 1024 - 100
    const [value] = fed(`data: {"x":"${'x'.repeat(length)}"}\n\n`, { size: 64 })
    expect(String(value?.x)).toHaveLength(length)
  })
})

describe('a whole answer', () => {
  it('jsonFeed() emits a whole answer at its end, from pieces of any size', () => {
    expect(fed('{"greeting":"Grüß 👋"}', { isStreamed: false, size: 1 })).toEqual([{ greeting: 'Grüß 👋' }])
  })
})
