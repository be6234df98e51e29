import { describe, expect, it } from 'vitest'
import { HOST_PORTS, type HostPort, hostApp, WAYS, WRONG } from './host-ports.ts'

const ways = (port: HostPort): readonly string[] => Object.keys(WAYS).filter((way) => !port.refusesWays?.includes(way))

describe.each(HOST_PORTS)('$call', (port) => {
  const wrong = [...WRONG].filter(([name]) => !port.allows.includes(name))
  const cases = wrong.flatMap(([name, value]) => ways(port).map((way) => ({ name, value, way })))

  it.each(cases)('that returns $name $way is refused, and the log says what came and what to return', async (given) => {
    const app = hostApp(port, () => WAYS[given.way]?.(given.value))
    expect(await port.use(app)).toBe(port.wrong)
    const causes = app.logger.lines.map(({ fields }) => String(fields.cause ?? ''))
    const sentences = causes.filter((cause) => cause.startsWith(port.call) || cause.includes(' of the redactor for '))
    expect(sentences.length, JSON.stringify(app.logger.lines)).toBeGreaterThan(0)
    for (const sentence of sentences) expect(sentence).toContain(` returned ${given.name}; return `)
    expect(JSON.stringify(app.logger.lines)).not.toMatch(/canary|77001/)
  })

  const allowed = [...WRONG].filter(([name]) => port.allows.includes(name))
  it.runIf(allowed.length > 0)('that returns what it may return logs no error', async () => {
    for (const [, value] of allowed) {
      for (const way of ways(port)) {
        const app = hostApp(port, () => WAYS[way]?.(value))
        await port.use(app)
        expect(app.logger.lines.filter(({ level }) => level === 'error')).toEqual([])
      }
    }
  })

  it('that throws gives its documented result', async () => {
    const app = hostApp(port, () => {
      throw new Error('down')
    })
    expect(await port.use(app)).toBe(port.thrown ?? port.wrong)
    expect(app.logger.lines.filter(({ level }) => level === 'error')).not.toEqual([])
  })

  it.skipIf(port.refusesWays)('whose promise rejects gives its documented result', async () => {
    const app = hostApp(port, () => Promise.reject(new Error('down')))
    expect(await port.use(app)).toBe(port.thrown ?? port.wrong)
    await new Promise((resolve) => setImmediate(resolve))
    expect(app.logger.lines.filter(({ level }) => level === 'error')).not.toEqual([])
  })
})

describe('a channel with an unreadable outcome', () => {
  const port = HOST_PORTS.find(({ call }) => call === 'send() of the channel') as HostPort

  it.each<[string, unknown]>([
    ['a getter that throws', Object.defineProperty({}, 'outcome', { get: () => fail(), enumerable: true })],
    ['an id that throws', Object.defineProperty({ outcome: 'sent' }, 'providerMessageId', { get: () => fail() })],
    ['the answer of a provider', { status: 'sent' }],
    ['true', true],
  ])('is asked once: %s', async (_, given) => {
    let sends = 0
    const app = hostApp(port, () => {
      sends += 1
      return given
    })
    expect(await port.use(app)).toBe(port.wrong)
    expect(sends).toBe(1)
    expect(app.logger.lines.map(({ event }) => event)).toContain('channel.outcome_invalid')
  })

  it('keeps the outcome when only its code is missing', async () => {
    const app = hostApp(port, () => ({ outcome: 'rejected' }))
    expect(await port.use(app)).toBe('failed provider_rejected code_invalid 1 attempts')
    const cause =
      "send() of the channel returned undefined as code; return a lower_snake word such as 'mailbox_full', never text of the provider"
    expect(app.logger.lines).toContainEqual(
      expect.objectContaining({ event: 'channel.outcome_invalid', fields: expect.objectContaining({ cause }) }),
    )
  })
})

function fail(): never {
  throw new Error('canary')
}
