import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordingChannel } from '../../src/contract-tests/recording-channel.ts'
import { createSallyport, defineEvents, type Sallyport } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'
import { openBrowser, openPage, scrollsSideways, violationsOf } from './browser.ts'
import { openConsole, type RunningConsole } from './console-server.ts'
import { filledSallyport } from './filled.ts'
import { LONG, largeSallyport } from './large.ts'

const withBrowser = await serviceOrSkip('chromium')

const NARROW = { viewport: { width: 360, height: 760 } }

/** Lists, and the field of each that `wrong` does not fit. */
const FILTERED = [
  ['dispatches', 'since'],
  ['sessions', 'until'],
  ['runs', 'status'],
  ['suppressions', 'reason'],
  ['tokens', 'outcome'],
] as const

withBrowser('states of screens', () => {
  let browser: Browser
  let host: RunningConsole
  let empty: RunningConsole
  let large: RunningConsole
  beforeAll(async () => {
    browser = await openBrowser()
    host = await openConsole(await filledSallyport(memoryStore()))
    empty = await openConsole(emptySallyport())
    large = await openConsole(await largeSallyport())
  })
  afterAll(async () => {
    for (const each of [host, empty, large]) await each.close()
    await browser.close()
  })

  function emptySallyport(): Sallyport {
    return createSallyport<Record<string, unknown>>({
      ...{ auth: testAuth, store: memoryStore(), logger: recordingLogger() },
      ...{ events: defineEvents({ known: { channels: { email: {} } } }), channels: { email: recordingChannel() } },
      suppressions: { keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }] },
    })
  }

  it.each([
    ['', 'Nothing happened in this window.'],
    ['dispatches', 'No event was dispatched yet.'],
    ['dispatches?status=sent', 'Nothing matches. Clear a filter'],
    ['dispatches/dsp_none', 'There is no such dispatch.'],
    ['events/none', 'The catalogue has no such event.'],
    ['sessions', 'No session yet.'],
    ['sessions/none', 'There is no such session.'],
    ['sessions/none/runs/none', 'There is no such run.'],
    ['runs', 'No run yet.'],
    ['suppressions', 'No address is suppressed.'],
    ['tokens', 'No session token was used'],
    ['nowhere', 'The console has no such page.'],
  ])('Empty, /%s says %j', async (path, sentence) => {
    const { page } = await openPage(browser, NARROW)
    await page.goto(empty.url + path)
    await page.getByText(sentence).waitFor()
    expect([await scrollsSideways(page), await violationsOf(page)]).toEqual([false, []])
    await page.close()
  })

  it.each(['', 'dispatches', 'events', 'sessions', 'sessions/s1', 'runs', 'suppressions', 'tokens'])(
    'While /%s is loading it says so, and nothing moves when the answer comes',
    async (path) => {
      const { page } = await openPage(browser)
      await watchShifts(page)
      const held: Route[] = []
      let isOpen = false
      await page.route('**/api/**', (route) => (isOpen ? route.continue() : void held.push(route)))
      await page.goto(host.url + path)
      await page.getByText('Loading …').waitFor()
      expect(await page.locator('.shown[aria-busy="true"]').count()).toBe(1)
      isOpen = true
      for (const route of held) await route.continue()
      await page.getByText('Loading …').waitFor({ state: 'detached' })
      await page.locator('.shown[aria-busy="true"]').waitFor({ state: 'detached' })
      expect(await shiftsOf(page)).toEqual([])
      await page.close()
    },
  )

  it('The rows of a page stay, marked as busy, until the next page is there', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${host.url}dispatches`)
    await page.getByRole('link', { name: /^dsp_/ }).first().waitFor()
    const held = new Promise<Route>((resolve) => void page.route(/status=sent/, resolve))
    await page.getByLabel('Status').selectOption('sent')
    const route = await held
    expect(await page.locator('.shown[aria-busy="true"]').getByRole('link').count()).toBeGreaterThan(0)
    await route.continue()
    await page.locator('.shown[aria-busy="false"]').waitFor()
    await page.close()
  })

  it.each(FILTERED)('A wrong filter of %s is explained beside its field', async (path, name) => {
    const { page } = await openPage(browser, NARROW)
    await page.goto(`${host.url}${path}?${name}=yesterday`)
    const field = page.locator(`#filter-${name}`)
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator(`#filter-${name}-fault`).textContent()).toMatch(/must be/)
    expect([await scrollsSideways(page), await violationsOf(page)]).toEqual([false, []])
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.close()
  })

  it('A cursor of another list has a way back to the first page', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${host.url}dispatches?cursor=foreign`)
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'First page' }).click()
    await page.getByRole('link', { name: /^dsp_/ }).first().waitFor()
    await page.close()
  })

  it('Without a server, a screen says so and keeps what it shows', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${host.url}sessions`)
    await page.getByRole('link', { name: 's1' }).waitFor()
    await page.route('**/api/**', (route) => route.abort())
    await page.getByText('The server cannot be reached. The console asks again by itself.').waitFor()
    expect(await page.getByRole('link', { name: 's1' }).count()).toBe(1)
    await page.unroute('**/api/**')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.close()
  })

  it.each([
    ['dispatches', 50],
    ['events', 100],
    [`sessions/${LONG}`, 100],
    ['runs', 50],
  ])('Very large, /%s draws %i rows at most, and does not scroll sideways', async (path, rows) => {
    const { page, complaints } = await openPage(browser, NARROW)
    await page.goto(large.url + path)
    await expect.poll(() => page.locator('tbody tr').count()).toBe(rows)
    expect([await scrollsSideways(page), complaints]).toEqual([false, []])
    await page.close()
  })

  it('A filter finds one of ten thousand events', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${large.url}events`)
    await page.getByText('The first 100 of 10,001 events').waitFor()
    await page.getByLabel('Name or category').fill('9999')
    await page.getByRole('link', { name: /9999$/ }).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(1)
    await page.getByLabel('Name or category').fill('none')
    await page.getByText('No event has such a name.').waitFor()
    await page.close()
  })

  it('A mail of 256 KiB, a hundred attempts and a run with huge values are shown', async () => {
    const { page, complaints } = await openPage(browser, NARROW)
    await page.goto(`${large.url}dispatches?recipient=tried%40example.com`)
    await page.getByRole('link', { name: /^dsp_/ }).click()
    await page.locator('.times tbody tr').first().waitFor()
    expect(await page.locator('.times tbody tr').count()).toBeLessThanOrEqual(51)
    await page.getByRole('button', { name: 'Show content' }).click()
    await page.frameLocator('iframe').locator('#shipped').waitFor()
    expect(await scrollsSideways(page)).toBe(false)
    await page.goto(`${large.url}runs`)
    await page.locator('tbody a').first().click()
    await page.getByRole('heading', { name: 'Metadata' }).waitFor()
    expect([await scrollsSideways(page), complaints]).toEqual([false, []])
    await page.close()
  })
})

/** Records what moves without a user's doing. */
async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(`
    globalThis.shifts = []
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) shifts.push([value, ...sources.map(({ node }) => node?.outerHTML.slice(0, 60))])
    }).observe({ type: 'layout-shift', buffered: true })`)
}

/** The shifts until now, after two more frames. */
function shiftsOf(page: Page): Promise<unknown> {
  return page.evaluate(`new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(shifts)))
  })`)
}
