import { afterEach, describe, expect, it, vi } from 'vitest'
import { liquid } from '../../src/engines/liquid.ts'
import type { CompiledTemplate, TemplateFacts } from '../../src/ports/template-engine.ts'

afterEach(() => void vi.restoreAllMocks())

function compiled(source: string): CompiledTemplate {
  const template = liquid().compile(source, 'none')
  if (typeof template !== 'function') throw new Error(template.fault)
  return template
}

/** A clock that advances by `msPerRead` on every read. */
function clockOf(msPerRead: number): { now: number } {
  const clock = { now: 0 }
  vi.spyOn(performance, 'now').mockImplementation(() => {
    clock.now += msPerRead
    return clock.now
  })
  return clock
}

const list = (length: number): TemplateFacts => ({ data: { items: Array.from({ length }, (_, index) => index) } })
const LOOP = '{% for i in data.items %}{{ i }}{% if i == 3 %}{% break %}{% endif %}{% endfor %}.'

describe('a rendering', () => {
  it('A short rendering returns its text synchronously', () => {
    clockOf(0)
    expect(compiled(LOOP)(list(3))).toEqual({ outcome: 'rendered', text: '012.' })
  })

  it('A long rendering yields to the event loop and returns the same text', async () => {
    clockOf(1)
    const turns: string[] = []
    const others = setInterval(() => turns.push('theirs'))
    const rendering = compiled(LOOP.repeat(20))(list(9))
    expect(rendering).toBeInstanceOf(Promise)
    expect(await rendering).toEqual({ outcome: 'rendered', text: '0123.'.repeat(20) })
    clearInterval(others)
    expect(turns.length).toBeGreaterThan(3)
  })

  it.each([
    ['is missing something', '{{ data.gone }}', { outcome: 'missing', path: 'data.gone' }],
    [
      'asks for too much',
      '{% for a in (1..900000) %}{% endfor %}',
      expect.objectContaining({ detail: expect.stringContaining('too much data') }),
    ],
    [
      'puts out an object',
      '\n{{ data }}',
      expect.objectContaining({ detail: expect.stringContaining('(line 2, column 1)') }),
    ],
  ])('A long rendering that %s reports it', async (_, fault, outcome) => {
    clockOf(1)
    const rendering = compiled(`{% if data.items %}${LOOP.repeat(5)}${fault}{% endif %}`)(list(9))
    expect(rendering).toBeInstanceOf(Promise)
    expect(await rendering).toEqual(outcome)
  })

  it('A rendering stops after two seconds of running time', async () => {
    clockOf(7)
    expect(await compiled(LOOP.repeat(100))(list(9))).toMatchObject({
      detail: expect.stringMatching(/^the rendering takes longer than 2000 ms/),
    })
  })

  it('A rendering may wait for the event loop without a limit', async () => {
    const clock = clockOf(1)
    const others = setInterval(() => {
      clock.now += 10_000
    })
    expect(await compiled(LOOP.repeat(20))(list(9))).toMatchObject({ outcome: 'rendered' })
    clearInterval(others)
    expect(clock.now).toBeGreaterThan(10_000)
  })

  it('Interleaved renderings do not disturb each other', async () => {
    clockOf(1)
    const template = compiled(`{% assign n = data.items.size %}${LOOP.repeat(5)}{{ n }}`)
    const texts = await Promise.all([template(list(9)), template(list(2))])
    expect(texts).toEqual([
      { outcome: 'rendered', text: `${'0123.'.repeat(5)}9` },
      { outcome: 'rendered', text: `${'01.'.repeat(5)}2` },
    ])
  })
})
