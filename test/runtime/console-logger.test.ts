import { describe, expect, it, onTestFinished } from 'vitest'
import { consoleLogger } from '../../src/runtime/console-logger.ts'

/** Records the lines that a function writes to the console. */
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
  it('The default logger writes time, level, event and fields in this order as one JSON line', () => {
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

  it('The default logger writes warnings, and no line of level info', () => {
    const lines = written(() => {
      consoleLogger.log('warn', 'load.shed', { inFlight: 5 })
      consoleLogger.log('info', 'delivery.sent', { deliveryId: 'd' })
    })
    expect(lines.map(([method]) => method)).toEqual(['warn'])
  })
})
