import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordingChannel } from '../../src/contract-tests/recording-channel.ts'
import { jsonLogic } from '../../src/engines/json-logic.ts'
import { createSallyport, defineEvents, type Sallyport } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { openBrowser, openPage } from './browser.ts'
import { openConsole, type RunningConsole } from './console-server.ts'

const withBrowser = await serviceOrSkip('chromium')

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
