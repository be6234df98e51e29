import { expect, it } from 'vitest'
import { advanceUntil } from '../support/advance-until.ts'
import { type HostPort, hostApp, WAYS, WRONG } from './host-ports.ts'

const ways = (port: HostPort): readonly string[] => Object.keys(WAYS).filter((way) => !port.refusesWays?.includes(way))

/** Tests what a port may return, what it may not, and a port that throws or rejects. */
export function testReturns(port: HostPort): void {
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
}

/** A call that never ends. */
export const never = (): Promise<never> => new Promise(() => {})

/** Tests that a port which never answers is given up at its limit. */
export async function testSilence(port: HostPort): Promise<void> {
  if (!port.silent) throw new Error(`${port.call} is called synchronously`)
  const { ms: limit, result: expected } = port.silent
  const app = hostApp(port, never)
  const { result, ms } = await advanceUntil(port.use(app), app.clock)
  expect(result).toBe(expected)
  expect(ms).toBeGreaterThanOrEqual(limit)
  expect(ms).toBeLessThanOrEqual(limit + 500)
  const sentence = `${port.call} did not answer within ${limit / 1_000} s`
  expect(app.logger.lines.map(({ fields }) => fields.cause)).toContain(sentence)
}
