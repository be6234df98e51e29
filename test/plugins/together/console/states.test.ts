import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { toFetch } from '../../../../src/adapters/fetch.ts'
import { recordingChannel } from '../../../../src/contract-tests/recording-channel.ts'
import { createSallyport, defineEvents, type Sallyport } from '../../../../src/index.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { openBrowser, openPage, PATIENT, scrollsSideways, violationsOf } from '../../../console/browser.ts'
import { openConsole, type RunningConsole } from '../../../console/console-server.ts'
import { filledSallyport } from '../../../console/filled.ts'
import { serviceOrSkip } from '../../../queues/services.ts'
import { APP, recordingLogger, testAuth } from '../../../support/deps.ts'
import { everyPlugin, everyRunPlugin } from '../../../support/every-plugin.ts'
import { LONG, largeSallyport } from './large.ts'

const withBrowser = await serviceOrSkip('chromium')

const NARROW = { viewport: { width: 360, height: 760 } }
const DARK = { colorScheme: 'dark' } as const

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
  let sallyport: Sallyport
  let host: RunningConsole
  let empty: RunningConsole
  let large: RunningConsole
  beforeAll(async () => {
    browser = await openBrowser()
    sallyport = await filledSallyport(memoryStore())
    host = await openConsole(sallyport)
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
      plugins: everyPlugin(),
    })
  }

  it.each([
    ['', 'Nothing happened in this window.'],
    ['dispatches', 'No event was dispatched yet.'],
    ['dispatches?status=sent', 'Nothing matches the status sent.'],
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
      await expect.poll(() => page.getByText('Loading …').count()).toBe(0)
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
    await expect.poll(() => field.getAttribute('aria-invalid'), PATIENT).toBe('true')
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
    const { page, complaints } = await openPage(browser, { ...NARROW, ...DARK })
    await page.goto(`${host.url}sessions`)
    await page.getByRole('link', { name: 's1' }).waitFor()
    await page.route('**/api/**', (route) => route.abort())
    await page.getByText('The server cannot be reached. The console asks again by itself.').waitFor()
    expect(await page.getByRole('link', { name: 's1' }).count()).toBe(1)
    expect([await scrollsSideways(page), await violationsOf(page)]).toEqual([false, []])
    // A browser logs each request that has no answer.
    expect(complaints.filter((text) => !/^failed: |net::ERR_FAILED/.test(text))).toEqual([])
    await page.unroute('**/api/**')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.close()
  })

  it.each([
    ['light', 1_280],
    ['dark', 360],
  ] as const)(
    'An open question, a change and an open look-up have no fault in the %s mode at %i px',
    async (colorScheme, width) => {
      const { page, complaints } = await openPage(browser, { colorScheme, viewport: { width, height: 760 } })
      const check = async (state: string): Promise<void> => {
        await page.getByText(state).waitFor()
        expect([state, await scrollsSideways(page), await violationsOf(page)]).toEqual([state, false, []])
      }
      const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
      const accepted = await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'later@example.com' })
      await page.goto(`${host.url}dispatches/${accepted.ok && accepted.body.dispatchId}`)
      await press('Cancel')
      await check('Stop deliveries that are not sent yet?')
      await press('Yes, cancel')
      await check('Cancelled 1.')
      await check('Nothing is still to be sent.')
      await page.goto(`${host.url}suppressions`)
      await page.getByLabel('Address').fill('new@example.com')
      await press('Look up')
      await check('It is not suppressed.')
      await press('Suppress')
      await check('Send nothing to this address?')
      await press('Yes, suppress')
      await check('It was added. Suppressed: manual on email.')
      await press('Remove')
      await press('Yes, remove')
      await check('Removed 1.')
      expect(complaints).toEqual([])
      await page.close()
    },
  )

  it('Without a worker the overview says so, in red if something is due, until one runs', async () => {
    const idle = emptySallyport()
    const own = await openConsole(idle)
    const { page, complaints } = await openPage(browser, { ...NARROW, ...DARK })
    await page.goto(own.url)
    const said = (kind: string) => page.locator(`p.${kind}`).getByText('No worker is alive.')
    await said('notice').waitFor()
    const colour = (kind: string) =>
      said(kind).evaluate((of) => Reflect.get(globalThis, 'getComputedStyle')(of).borderColor)
    const calm = await colour('notice')
    expect([await said('failure').count(), await violationsOf(page)]).toEqual([0, []])
    await idle.dispatch({ eventType: 'known', recipient: 'due@example.com' })
    await said('failure').waitFor()
    expect([await said('notice').count(), await violationsOf(page)]).toEqual([0, []])
    expect(await colour('failure')).not.toBe(calm)
    await idle.worker.runDue()
    await page.getByText('No worker is alive.').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
    await page.close()
    await own.close()
  })

  it('A host that only records runs shows what it has, and says of the rest that it does not offer it', async () => {
    const plugins = everyRunPlugin()
    const recorder = createSallyport({ auth: testAuth, store: memoryStore(), logger: recordingLogger(), plugins })
    const run = { runId: 'r1', status: 'completed', usage: { prompt_tokens: 5, unheard_of_tokens: 2 } }
    const body = JSON.stringify({ sessionId: 's1', run })
    const headers = { ...APP, 'content-type': 'application/json' }
    await toFetch(recorder)(new Request('http://127.0.0.1/api/agents/session/run', { method: 'POST', headers, body }))
    const own = await openConsole(recorder)
    const { page, complaints } = await openPage(browser, NARROW)
    for (const [path, shown] of [
      ['', 'Accepted dispatches'],
      ['sessions', 's1'],
      ['sessions/s1', 'r1'],
      ['sessions/s1/runs/r1', 'It has ended without an error.'],
      ['sessions/s1/runs/r1', 'not calculated: some counts may be wrong'],
      ['runs', 'r1'],
      ['dispatches', 'This host does not offer it'],
      ['dispatches/dsp_1', 'This host does not offer it'],
      ['events', 'This host does not offer it'],
      ['events/known', 'This host does not offer it'],
      ['suppressions', 'This host does not offer it'],
    ] as const) {
      await page.goto(own.url + path)
      await page.locator('main').getByText(shown).first().waitFor()
      expect([path, await scrollsSideways(page), await violationsOf(page)]).toEqual([path, false, []])
      expect(await page.getByText('No worker is alive.').count()).toBe(0)
    }
    const sections = await page.getByRole('navigation').getByRole('link').allTextContents()
    expect(sections).toEqual(['Overview', 'Sessions', 'Runs', 'Tokens'])
    expect(complaints).toEqual([])
    await page.close()
    await own.close()
  })

  it.each([
    ['dispatches', 50],
    ['events', 100],
    [`sessions/${LONG}`, 100],
    ['runs', 50],
  ])('Very large, /%s draws %i rows at most, and does not scroll sideways', async (path, rows) => {
    const { page, complaints } = await openPage(browser, NARROW)
    await page.goto(large.url + path)
    await expect.poll(() => page.locator('tbody tr').count(), PATIENT).toBe(rows)
    expect([await scrollsSideways(page), await violationsOf(page), complaints]).toEqual([false, [], []])
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
    expect([await scrollsSideways(page), await violationsOf(page)]).toEqual([false, []])
    await page.goto(`${large.url}runs`)
    await page.locator('tbody a').first().click()
    await page.getByRole('heading', { name: 'Metadata' }).waitFor()
    expect([await scrollsSideways(page), await violationsOf(page), complaints]).toEqual([false, [], []])
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
