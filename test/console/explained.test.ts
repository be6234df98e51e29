import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  explainDelivery,
  explainDispatch,
  explainFeedback,
  explainOutcome,
  explainProvider,
  REASONS,
  WAITS,
} from '../../src/console/app/sentences/delivery.ts'
import { explainRefusal, explainSuppression } from '../../src/console/app/sentences/refusal.ts'
import { explainBudget, explainRun } from '../../src/console/app/sentences/run.ts'
import { recordingChannel } from '../../src/contract-tests/recording-channel.ts'
import { jsonLogic } from '../../src/engines/json-logic.ts'
import { CALLER_CODES } from '../../src/errors.ts'
import { createSallyport, defineEvents, type Sallyport } from '../../src/index.ts'
import { FEEDBACK_KINDS } from '../../src/model/feedback.ts'
import { SUPPRESSION_REASONS } from '../../src/model/suppression.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { openBrowser, openPage } from './browser.ts'
import { openConsole, type RunningConsole } from './console-server.ts'

const withBrowser = await serviceOrSkip('chromium')

const SENTENCE = /^[A-Z].+\.$/

describe('sentences', () => {
  const all = [
    ...Object.keys(REASONS).map((reason) => [reason, explainDelivery('failed', reason)] as const),
    ...Object.keys(WAITS).map((cause) => [cause, explainDelivery('queued', undefined, cause)] as const),
    ...(['queued', 'sending', 'sent', 'failed', 'skipped', 'held', 'cancelled', 'expired'] as const).map(
      (status) => [status, explainDelivery(status)] as const,
    ),
    ...(['queued', 'sent', 'partial', 'failed', 'skipped', 'cancelled'] as const).map(
      (status) => [status, explainDispatch(status)] as const,
    ),
    ...(['queued', 'running', 'waiting', 'completed', 'incomplete', 'failed', 'cancelled', 'expired'] as const).map(
      (status) => [status, explainRun(status)] as const,
    ),
    ...(['retry', 'unknown', 'rejected', 'lost'] as const).map(
      (outcome) => [outcome, explainOutcome(outcome)] as const,
    ),
    ...FEEDBACK_KINDS.map((kind) => [kind, explainFeedback(kind)] as const),
    ...SUPPRESSION_REASONS.map((reason) => [reason, explainSuppression(reason)] as const),
    ...(['within', 'soft', 'hard'] as const).map((level) => [level, explainBudget(level)] as const),
    ...CALLER_CODES.map((code) => [code, explainRefusal(code)] as const),
  ]

  it.each(all)('%s says what it means and what to do next', (value, { means, next }) => {
    expect(means).toMatch(SENTENCE)
    expect(means).not.toBe(`It is ${value}.`)
    expect(next).toMatch(SENTENCE)
  })

  it('A dispatch that was sent and came back says so', () => {
    const bounced = { status: 'sent', feedback: [{ kind: 'bounced', at: '2026-11-27T00:00:00.000Z' }] }
    expect(explainDispatch('sent', [bounced as never]).means).toContain('reported that it came back')
    expect(explainDispatch('sent', [{ ...bounced, feedback: [{ kind: 'opened' }] } as never]).next).toBe(
      'Nothing to do.',
    )
  })

  it.each([undefined, 'cooling_down', 'provider_waiting', 'connection_failed', 'http_503'])(
    'The code %s of a provider is explained',
    (code) => {
      expect(explainProvider(code)).toMatch(SENTENCE)
    },
  )

  it('A code that a provider chose is not explained', () => {
    expect([explainProvider('odd_word'), explainProvider('toString')]).toEqual(['', ''])
  })

  it('A value that a redactor replaced is shown as it is', () => {
    expect(explainDelivery('skipped', '•••')).toEqual({ means: 'It is •••.', next: '' })
  })
})

withBrowser('a skipped delivery', () => {
  let browser: Browser
  let host: RunningConsole
  let sallyport: Sallyport
  beforeAll(async () => {
    browser = await openBrowser()
    sallyport = createSallyport<Record<string, unknown>>({
      ...{ auth: testAuth, store: memoryStore(), channels: { email: recordingChannel() }, logger: recordingLogger() },
      events: defineEvents(
        {
          ruled: { channels: { email: { when: { '>=': [{ var: 'data.total' }, 100] }, html: () => '' } } },
          coded: { channels: { email: { when: ({ data }) => Object(data).total >= 100, html: () => '' } } },
        },
        { conditions: jsonLogic() },
      ),
    })
    host = await openConsole(sallyport)
  })
  afterAll(async () => {
    await host.close()
    await browser.close()
  })

  async function urlOf(eventType: string): Promise<string> {
    await sallyport.dispatch({ eventType, recipient: 'jane@example.com', eventData: { total: 42 } })
    const { items } = await sallyport.dispatches.list({ eventType })
    return `${host.url}dispatches/${items[0]?.dispatchId}`
  }

  it('The trace of a rule stands next to the data that it read', async () => {
    const { page } = await openPage(browser)
    await page.goto(await urlOf('ruled'))
    const rule = page.getByRole('row', { name: '>= data.total 100 false' })
    const value = page.locator('dl').filter({ hasText: 'data.total' }).getByText('42')
    const [left, right] = [await rule.boundingBox(), await value.boundingBox()]
    expect(right?.x).toBeGreaterThan((left?.x ?? 0) + (left?.width ?? 0))
    expect(Math.abs((right?.y ?? 0) - (left?.y ?? 0))).toBeLessThan(100)
    await page.close()
  })

  it('A condition that is a function has a sentence instead, and the way to a dry run', async () => {
    const { page } = await openPage(browser)
    await page.goto(await urlOf('coded'))
    await page.getByText('The condition of email is a function').waitFor()
    await page.getByRole('link', { name: 'dry run of the event' }).click()
    await page.getByRole('heading', { name: 'Dry run' }).waitFor()
    await page.close()
  })
})
