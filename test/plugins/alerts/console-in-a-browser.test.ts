import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { postRun } from '../../compose/run-host.ts'
import { openBrowser, openPage } from '../../console/browser.ts'
import { openConsole, type RunningConsole } from '../../console/console-server.ts'
import { serviceOrSkip } from '../../queues/services.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'

const withBrowser = await serviceOrSkip('chromium')

withBrowser('budgets in the console', () => {
  let browser: Browser
  let host: RunningConsole
  let page: Page
  beforeAll(async () => {
    browser = await openBrowser()
    const sallyport = createSallyport({
      ...{ auth: testAuth, store: memoryStore(), logger: recordingLogger() },
      plugins: [
        alerts({
          budgets: [
            { name: 'session', per: 'session', hard: { tokens: 1_000 } },
            { name: 'person', per: 'user', soft: { tokens: 10 } },
          ],
        }),
      ],
    })
    const counts = { inputTokens: 700, outputTokens: 400 }
    await postRun(sallyport, { runId: 'r1', status: 'completed', userId: 'ada', counts })
    host = await openConsole(sallyport)
  })
  beforeEach(async () => {
    page = (await openPage(browser)).page
  })
  afterEach(() => page.close())
  afterAll(async () => {
    await host.close()
    await browser.close()
  })

  it('A budget has a bar and words', async () => {
    await page.goto(`${host.url}sessions/s1`)
    await page.getByText('1,100 tokens spent: at most 1,000').waitFor()
    await page.getByText('The hard limit is reached').waitFor()
    const bar = page.getByRole('meter', { name: 'session in tokens' })
    expect(await bar.evaluate((meter) => [Reflect.get(meter, 'value'), Reflect.get(meter, 'max')])).toEqual([
      1_000, 1_000,
    ])
  })

  it('From a run, the budgets of its user are found', async () => {
    await page.goto(`${host.url}sessions/s1/runs/r1`)
    await page.getByRole('link', { name: 'ada' }).click()
    await page.getByText('1,100 tokens spent: warns at 10').waitFor()
  })
})
