import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import type { ErrorDetails } from '../../src/core/answers/report-fault.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { composed } from './composed.ts'

const events = defineEvents({ e: { channels: { a: { text: () => 'x' } } } })
const recipients = { find: () => Promise.reject(new Error('db is down')) }

/** Log lines of a dispatch whose directory throws: at start, then of the failed request. */
async function lines(nodeEnv: string | undefined, errorDetails?: ErrorDetails) {
  vi.stubEnv('NODE_ENV', nodeEnv)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { sallyport, logger } = composed(events, { recipients, ...(errorDetails && { errorDetails }) })
  await sallyport.dispatch({ eventType: 'e', recipient: 'user_1' })
  const lines = logger.lines.filter(({ event }) => event !== 'store.in_memory')
  return lines.map(({ level, event, fields: { message } }) => [level, event, message])
}

const SAID = ['warn', 'errors.in_full', undefined]

describe('errorDetails by default', () => {
  it('Where NODE_ENV is development, all messages are logged, and the log says so at start', async () => {
    expect(await lines('development')).toEqual([SAID, ['error', 'request.failed', 'db is down']])
  })

  it.each([undefined, '', 'production', 'test', 'Development', 'dev'])(
    'Where NODE_ENV is %s, the message of a port is not logged',
    async (env) => expect(await lines(env)).toEqual([['error', 'request.failed', undefined]]),
  )

  it('An explicit errorDetails wins in development, without a line at start', async () => {
    for (const errorDetails of ['default', 'none'] as const) {
      expect(await lines('development', errorDetails)).toEqual([['error', 'request.failed', undefined]])
    }
  })

  it('A Sallyport that only records runs does the same', () => {
    vi.stubEnv('NODE_ENV', 'development')
    onTestFinished(() => void vi.unstubAllEnvs())
    const logger = recordingLogger()
    createSallyport({ auth: testAuth, store: memoryStore(), logger })
    expect(logger.lines).toMatchObject([{ event: 'errors.in_full', fields: { detail: expect.any(String) } }])
  })
})
