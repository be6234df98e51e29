import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { openBrowser, openPage, scrollsSideways, violationsOf } from '../../../console/browser.ts'
import { openConsole, type RunningConsole } from '../../../console/console-server.ts'
import { filledSallyport } from '../../../console/filled.ts'
import { serviceOrSkip } from '../../../queues/services.ts'

const withBrowser = await serviceOrSkip('chromium')

withBrowser('a screen that cannot be drawn', () => {
  let browser: Browser
  let host: RunningConsole
  beforeAll(async () => {
    browser = await openBrowser()
    host = await openConsole(await filledSallyport(memoryStore()))
  })
  afterAll(async () => {
    await host.close()
    await browser.close()
  })

  it('says so with the next step, and is drawn when it is opened again', async () => {
    const { page, complaints } = await openPage(browser, { colorScheme: 'dark', viewport: { width: 360, height: 760 } })
    const stats = '**/api/outbound/stats*'
    // Stands for an answer of another version of the host.
    await page.route(stats, (route) => route.fulfill({ json: { buckets: 7 } }))
    await page.goto(host.url)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.getByText('This screen cannot be drawn').waitFor()
    expect(complaints).toEqual([expect.stringContaining('TypeError')])
    expect(await page.getByRole('heading').count()).toBe(1)
    expect([await scrollsSideways(page), await violationsOf(page)]).toEqual([false, []])
    await page.getByRole('navigation').getByRole('link', { name: 'Dispatches' }).click()
    await page.getByRole('columnheader', { name: 'Recipient' }).waitFor()
    await page.goBack()
    await page.getByText('This screen cannot be drawn').waitFor()
    await page.unroute(stats)
    await page.getByRole('button', { name: 'Draw it again' }).click()
    await page.getByText('Workers alive').waitFor()
    await page.close()
  })
})
