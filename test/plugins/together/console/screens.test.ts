import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sallyport } from '../../../../src/index.ts'
import { sqlStore } from '../../../../src/storage/sql/index.ts'
import { openBrowser, openPage, PATIENT, scrollsSideways, violationsOf } from '../../../console/browser.ts'
import { FRAMEWORKS, PREFIXES, serveConsole } from '../../../console/console-host.ts'
import type { RunningConsole } from '../../../console/console-server.ts'
import { filledSallyport } from '../../../console/filled.ts'
import { serviceOrSkip } from '../../../queues/services.ts'
import { openPostgresql, openSqlite, type TestDatabase } from '../../../storage/databases.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'

const withBrowser = await serviceOrSkip('chromium')

/** Modes and widths for axe-core: each kind of database has one that the other has not. */
const MODES = [
  ['light', 1_280],
  ['dark', 360],
] as const

/** Each framework at each prefix, in an order in which every second one has all frameworks and prefixes. */
const HOSTS = FRAMEWORKS.flatMap((framework) => PREFIXES.map((prefix) => ({ framework, prefix })))

/** Opens each screen by its links, as a user does, and calls `check` on it. */
async function visitAll(page: Page, url: string, check: (screen: string) => Promise<void>): Promise<void> {
  const open = async (name: string, heading: RegExp, go: () => Promise<unknown>): Promise<void> => {
    await go()
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await expect.poll(() => page.getByText('Loading …').count(), PATIENT).toBe(0)
    await check(name)
  }
  const section = (name: string) => page.getByRole('navigation').getByRole('link', { name }).click()
  await open('overview', /^Overview$/, () => page.goto(url))
  await open('plot', /^Overview$/, async () => {
    await page.getByRole('button', { name: 'Open plot of Accepted dispatches' }).click()
    await page.locator('.uplot').waitFor()
  })
  await open('dispatches', /^Dispatches$/, () => section('Dispatches'))
  await open('a dispatch', /^Dispatch dsp_/, () =>
    page
      .getByRole('row', { name: /failed/ })
      .getByRole('link')
      .first()
      .click(),
  )
  await open('its content', /^Dispatch dsp_/, async () => {
    await page.goBack()
    await page.getByRole('row', { name: /jane/ }).first().getByRole('link').first().click()
    await page.getByRole('button', { name: 'Show content' }).click()
    await page.frameLocator('iframe').locator('#shipped').waitFor()
    await page.getByRole('heading', { name: 'Feedback of the provider' }).waitFor()
  })
  await open('a recipient', /^Recipient jane/, () => page.getByRole('link', { name: 'jane@example.com' }).click())
  await open('events', /^Events$/, () => section('Events'))
  await open('a dry run', /^Event order\.shipped$/, async () => {
    await page.getByRole('link', { name: 'order.shipped' }).click()
    await page.getByLabel('Recipient').fill('jane@example.com')
    // Until its answer is shown, an earlier one is dimmed.
    const answer = page.waitForResponse((response) => response.request().postData()?.includes('"urgent":true') === true)
    await page.getByLabel('Data of the event').fill('{"number": 1, "urgent": true}')
    await answer
    await expect.poll(() => page.locator('[aria-busy="true"]').count(), PATIENT).toBe(0)
    await page.getByText('The dispatch would be').waitFor()
    await page.frameLocator('iframe').locator('#shipped').waitFor()
  })
  await open('sessions', /^Sessions$/, () => section('Sessions'))
  await open('a session', /^Session s1$/, () => page.getByRole('link', { name: 's1' }).click())
  await open('a run', /^Run child$/, () =>
    page
      .getByRole('link', { name: /^child/ })
      .first()
      .click(),
  )
  await open('runs', /^Runs$/, () => section('Runs'))
  await open('suppressions', /^Suppressions$/, () => section('Suppressions'))
  await open('tokens', /^Tokens in use$/, () => section('Tokens'))
}

withBrowser('the console in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  const kinds = [
    ['SQLite', openSqlite, 'sqlite', ['light', 360]],
    ['PostgreSQL', openPostgresql, 'postgresql', ['dark', 1_280]],
  ] as const
  for (const [turn, [kind, openDatabase, dialect, mode]] of kinds.entries()) {
    withBrowser(`on ${kind}`, () => {
      let database: TestDatabase
      let sallyport: Sallyport
      let host: RunningConsole
      const faults: unknown[] = []
      beforeAll(async () => {
        database = await openDatabase()
        const store = sqlStore({ db: database.connect(), dialect, timeoutMs: UNHURRIED_MS })
        await store.migrate()
        sallyport = await filledSallyport(store, { hooks: { onError: (error) => void faults.push(error) } })
        host = await serveConsole('express', sallyport, '/ops', { access: () => 'operate' })
      })
      afterAll(async () => {
        await host.close()
        await database.close()
      })

      it.each(HOSTS.filter((_, at) => at % kinds.length === turn))(
        'Every screen opens in $framework at $prefix: nothing that a caller sent runs, and the browser complains of nothing',
        async ({ framework, prefix }) => {
          const own = await serveConsole(framework, sallyport, prefix, { access: () => 'read' })
          const { page, complaints } = await openPage(browser)
          try {
            await visitAll(page, own.url, async (screen) => {
              expect([screen, await page.evaluate(() => Reflect.get(globalThis, 'ran'))]).toEqual([screen, undefined])
            })
            expect({ complaints, faults }).toEqual({ complaints: [], faults: [] })
          } finally {
            await page.close()
            await own.close()
          }
        },
      )

      it.each([...MODES, mode])(
        'axe-core finds nothing in the %s mode at %i px, and no page scrolls sideways',
        async (colorScheme, width) => {
          const { page } = await openPage(browser, { colorScheme, viewport: { width, height: 800 } })
          await visitAll(page, host.url, async (screen) => {
            expect([screen, await violationsOf(page)]).toEqual([screen, []])
            expect([screen, await scrollsSideways(page)]).toEqual([screen, false])
          })
          await page.close()
        },
      )

      it('A dispatch is cancelled and another retried, and an address suppressed and released', async () => {
        const { page } = await openPage(browser)
        await page.goto(`${host.url}dispatches?recipient=due%40example.com`)
        await page.getByRole('link', { name: /^dsp_/ }).click()
        await page.getByRole('button', { name: 'Cancel' }).click()
        await page.getByRole('button', { name: 'Yes, cancel' }).click()
        await page.getByText('Cancelled 1.').waitFor()
        await page.goto(`${host.url}dispatches?status=failed`)
        await page.getByRole('link', { name: /^dsp_/ }).first().click()
        await page.getByRole('button', { name: 'Retry' }).click()
        await page.getByRole('button', { name: 'Yes, retry' }).click()
        await page.getByText('Queued 1 again.').waitFor()
        await page.goto(`${host.url}suppressions`)
        await page.getByLabel('Address').fill('new@example.com')
        await page.getByRole('button', { name: 'Suppress' }).click()
        await page.getByRole('button', { name: 'Yes, suppress' }).click()
        await page.getByText('Suppressed: manual on email.').waitFor()
        await page.getByRole('button', { name: 'Remove' }).click()
        await page.getByRole('button', { name: 'Yes, remove' }).click()
        await page.getByText('It is not suppressed.').waitFor()
        const { items } = await sallyport.dispatches.list({ recipient: 'due@example.com' })
        expect(items[0]?.status).toBe('cancelled')
        await page.close()
      })

      it('A dispatch is found and cancelled with the keyboard alone', async () => {
        const recipient = `key@${kind.toLowerCase()}.example.com`
        await sallyport.dispatch({ eventType: 'order.shipped', recipient })
        const { page } = await openPage(browser)
        await page.goto(`${host.url}dispatches?recipient=${encodeURIComponent(recipient)}`)
        const press = async (name: RegExp): Promise<void> => {
          await page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().waitFor()
          for (let steps = 0; steps < 60; steps++) {
            const text = await page.evaluate(() => Reflect.get(globalThis, 'document').activeElement?.textContent ?? '')
            if (name.test(text)) return page.keyboard.press('Enter')
            await page.keyboard.press('Tab')
          }
          throw new Error(`Tab does not reach ${name}`)
        }
        await press(/^dsp_/)
        await press(/^Cancel$/)
        await press(/^Yes, cancel$/)
        await page.getByText('Cancelled 1.').waitFor()
        await page.close()
      })
    })
  }

  it('A page of another site cannot frame the console, nor change anything', async () => {
    const database = await openSqlite()
    const store = sqlStore({ db: database.connect(), dialect: 'sqlite', timeoutMs: UNHURRIED_MS })
    await store.migrate()
    const sallyport = await filledSallyport(store)
    const host = await serveConsole('node', sallyport, '/ops', { access: () => 'operate' })
    const { items } = await sallyport.dispatches.list({ recipient: 'due@example.com' })
    const { dispatchId = '' } = items[0] ?? {}
    const { page } = await openPage(browser)
    // Another origin: `localhost` is not `127.0.0.1`.
    const other = host.url.replace('127.0.0.1', 'localhost')
    await page.route(`${new URL(other).origin}/other`, (route) =>
      route.fulfill({ contentType: 'text/html', body: `<iframe src="${host.url}"></iframe>` }),
    )
    await page.goto(`${new URL(other).origin}/other`)
    await page.evaluate(async (url) => {
      // A browser that asks before it lets a page reach the loopback refuses the first one too.
      await fetch(url, { method: 'POST', mode: 'no-cors', body: '{}' }).catch(() => {})
      await fetch(url, { method: 'POST', headers: { 'x-sallyport-console': '1' }, body: '{}' }).catch(() => {})
    }, `${host.url}api/outbound/dispatches/${dispatchId}/cancel`)
    expect(page.frames().some((frame) => frame.url().startsWith(host.url))).toBe(false)
    expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({ status: 'queued' })
    await page.close()
    await host.close()
    await database.close()
  })
})
