import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ConsoleOptions } from '../../../../src/console/index.ts'
import type { Sallyport } from '../../../../src/index.ts'
import { sqlStore } from '../../../../src/storage/sql/index.ts'
import { openBrowser, openPage } from '../../../console/browser.ts'
import { openConsole } from '../../../console/console-server.ts'
import { filledSallyport } from '../../../console/filled.ts'
import { serviceOrSkip } from '../../../queues/services.ts'
import { openSqlite, type TestDatabase } from '../../../storage/databases.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'

const withBrowser = await serviceOrSkip('chromium')

type Redact = NonNullable<ConsoleOptions['redact']>

const INSTANT = /^\d{4}-\d\d-\d\dT/

/** Each with what the screens say instead of a value. */
const REDACTORS: readonly (readonly [name: string, redact: Redact, instead: RegExp])[] = [
  ['numbers become null', (value) => (typeof value === 'number' ? null : value), /hidden/],
  ['times become null', (value) => (INSTANT.test(String(value)) ? null : value), /hidden/],
  ['everything becomes null', () => null, /hidden/],
  ['everything becomes a dot', () => '•', /•/],
  ['texts become numbers', (value) => (typeof value === 'string' ? 5 : value), /5/],
  ['everything becomes true', () => true, /true/],
]

/** Words of a value that was formatted as what it is not. */
const NONSENSE = /.{0,40}(\bNaN\b|undefined|Invalid|Infinity|\[object|\b1970\b).{0,40}/

withBrowser('the console with hidden values', () => {
  let browser: Browser
  let database: TestDatabase
  let sallyport: Sallyport
  let dispatches: readonly string[]
  beforeAll(async () => {
    browser = await openBrowser()
    database = await openSqlite()
    const store = sqlStore({ db: database.connect(), dialect: 'sqlite', timeoutMs: UNHURRIED_MS })
    await store.migrate()
    sallyport = await filledSallyport(store)
    const { items } = await sallyport.dispatches.list({})
    dispatches = items.map(({ dispatchId }) => dispatchId)
  })
  afterAll(async () => {
    await browser.close()
    await database.close()
  })

  /** Opens each screen by its address, since a hidden id has no link, and calls `check` on it. */
  async function visitAll(page: Page, url: string, check: (screen: string) => Promise<void>): Promise<void> {
    const open = async (screen: string, heading: string): Promise<void> => {
      await page.goto(`${url}${screen}`)
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
      await page.locator('main [aria-busy="true"]').first().waitFor({ state: 'detached' })
      await check(screen)
    }
    await open('', 'Overview')
    await page.getByRole('button', { name: 'Open plot of Accepted dispatches' }).click()
    await page.locator('.plot:not(:empty)').waitFor()
    await check('a plot')
    await open('dispatches', 'Dispatches')
    for (const id of dispatches) {
      await open(`dispatches/${id}`, `Dispatch ${id}`)
      await page.getByRole('button', { name: 'Show content' }).click()
      await page.locator('.mail').first().waitFor()
      await check(`the content of ${id}`)
    }
    await open('events', 'Events')
    await open('events/order.shipped', 'Event order.shipped')
    await open('sessions', 'Sessions')
    await open('sessions/s1', 'Session s1')
    await open('sessions/s1?show=newest', 'Session s1')
    for (const run of ['parent', 'child', 'open']) await open(`sessions/s1/runs/${run}`, `Run ${run}`)
    await open('runs', 'Runs')
    await open('suppressions', 'Suppressions')
    await page.getByLabel('Address').fill('bad@example.com')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('Suppressed: ').waitFor()
    await check('a suppression')
    await open('tokens', 'Tokens in use')
  }

  it.each(REDACTORS)('Every screen shows that values are hidden: %s', async (_, redact, instead) => {
    const host = await openConsole(sallyport, { redact })
    const { page, complaints } = await openPage(browser)
    let said = ''
    try {
      await visitAll(page, host.url, async (screen) => {
        const main = await page.locator('main').innerHTML()
        said += main
        expect([screen, complaints, NONSENSE.exec(main)?.[0], /cannot be drawn/.test(main)]).toEqual([
          ...[screen, [], undefined, false],
        ])
      })
      expect(said).toMatch(instead)
    } finally {
      await page.close()
      await host.close()
    }
  })

  it('A plot without times says so', async () => {
    const host = await openConsole(sallyport, { redact: () => null })
    const { page } = await openPage(browser)
    await page.goto(host.url)
    await page.getByRole('button', { name: 'Open plot of Runs' }).click()
    await page.getByText('Nothing to plot: the values are hidden.').waitFor()
    await page.close()
    await host.close()
  })

  it('Links and pages work while other values are hidden', async () => {
    const isShown = (field: string): boolean => ['dispatchId', 'sessionId', 'runId'].includes(field)
    for (let more = 0; more < 50; more++)
      await sallyport.dispatch({ eventType: 'order.shipped', recipient: `r${more}@example.com` })
    const redact: Redact = (value, { field }) => (isShown(field) ? value : null)
    const host = await openConsole(sallyport, { redact })
    const { page, complaints } = await openPage(browser)
    await page.goto(`${host.url}dispatches`)
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('button', { name: 'First page' }).waitFor()
    await page.getByRole('link', { name: dispatches.at(-1) ?? '' }).click()
    await page.getByRole('heading', { name: /^Dispatch dsp_/ }).waitFor()
    await page.getByText('It is hidden.').first().waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('link', { name: 'child' }).click()
    await page.getByRole('heading', { name: 'Run child' }).waitFor()
    expect(complaints).toEqual([])
    await page.close()
    await host.close()
  })

  it('A list follows what happens while its ids are hidden', async () => {
    const host = await openConsole(sallyport, { redact: () => null })
    const { page, complaints } = await openPage(browser)
    await page.goto(`${host.url}dispatches?eventType=order.lost`)
    await page.locator('tbody tr').nth(0).waitFor()
    await sallyport.dispatch({ eventType: 'order.lost', recipient: 'joe@example.com' })
    await page.locator('tbody tr').nth(1).waitFor()
    expect([await page.locator('tbody tr').count(), complaints]).toEqual([2, []])
    await page.close()
    await host.close()
  })
})
