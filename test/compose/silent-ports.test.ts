import { describe, expect, it } from 'vitest'
import { advanceUntil } from '../support/advance-until.ts'
import { HOST_PORTS, hostApp } from './host-ports.ts'
import { never, testSilence } from './port-tests.ts'

describe('a port that never answers', () => {
  it.each(HOST_PORTS.filter(({ silent }) => silent))(
    '$call is given up after its limit, and the log names it',
    testSilence,
  )

  it('Nothing is stored, and a late result is dropped', async () => {
    const port = HOST_PORTS.find(({ call }) => call === 'find() of the directory')
    let answer: (recipient: object) => void = () => {}
    const late = (): Promise<object> =>
      new Promise((resolve) => {
        answer = resolve
      })
    const app = port && hostApp(port, late)
    if (!app) throw new Error('no such port')
    await advanceUntil(port.use(app), app.clock)
    answer({ id: 'ada', email: 'ada@example.com' })
    await new Promise((resolve) => setImmediate(resolve))
    expect((await app.sallyport.dispatches.list()).items).toEqual([])
  })

  it('An exporter that never ends delays no answer, and is logged', async () => {
    const port = HOST_PORTS.find(({ call }) => call === 'export() of an exporter')
    const app = port && hostApp(port, never)
    if (!app) throw new Error('no such port')
    expect(await port.use(app)).toBe('201')
    app.clock.advance(10_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(app.logger.lines).toContainEqual(
      expect.objectContaining({
        event: 'run.export_failed',
        fields: expect.objectContaining({ cause: 'export() of an exporter did not end within 10 s' }),
      }),
    )
  })

  it('A send that never ends is ended by its time-out and tried again', async () => {
    const port = HOST_PORTS.find(({ call }) => call === 'send() of the channel')
    const app = port && hostApp(port, never)
    if (!app) throw new Error('no such port')
    await app.sallyport.dispatch({ eventType: 'order', recipient: 'ada@example.com' })
    await advanceUntil(app.sallyport.worker.runDue(), app.clock)
    const [one] = (await app.sallyport.dispatches.list()).items
    expect(one?.deliveries[0]).toMatchObject({ status: 'queued', attempts: 1, lastCode: 'send_timeout' })
  })
})
