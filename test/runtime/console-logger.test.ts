import { describe, expect, it, onTestFinished } from 'vitest'
import { consoleLogger } from '../../src/runtime/console-logger.ts'

/** The lines that are written to the console while a function runs. */
function written(run: () => void): readonly (readonly [method: string, line: string])[] {
  const lines: [string, string][] = []
  const methods = ['error', 'warn', 'info', 'log'] as const
  for (const method of methods) {
    const before = console[method]
    console[method] = (line: string) => void lines.push([method, line])
    onTestFinished(() => {
      console[method] = before
    })
  }
  run()
  return lines
}

describe('the default logger', () => {
  it('writes a line of time, level, event and fields, in this order, under the documented name', () => {
    const before = Date.now()
    const [[method, line] = []] = written(() =>
      consoleLogger.log('error', 'worker.claim_failed', { cause: 'TypeError', stack: 'at f (/a.js:1:1)\nat g' }),
    )
    const { time, ...rest } = JSON.parse(line ?? '')
    expect(method).toBe('error')
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Date.parse(time)).toBeGreaterThanOrEqual(before)
    expect(line).not.toContain('\n')
    expect(Object.keys(JSON.parse(line ?? ''))).toEqual(['time', 'level', 'event', 'cause', 'stack'])
    expect(rest).toMatchObject({ level: 'error', event: 'worker.claim_failed', cause: 'TypeError' })
  })

  it('writes warnings as such, and nothing of what went well', () => {
    const lines = written(() => {
      consoleLogger.log('warn', 'load.shed', { inFlight: 5 })
      consoleLogger.log('info', 'delivery.sent', { deliveryId: 'd' })
    })
    expect(lines.map(([method]) => method)).toEqual(['warn'])
  })
})
