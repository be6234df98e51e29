import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { ConsoleLevel } from '../../../../src/console/index.ts'
import type { Sallyport } from '../../../../src/index.ts'
import type { ConsentApi } from '../../../../src/plugins/index.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { sqlStore } from '../../../../src/storage/sql/index.ts'
import { openBrowser, openPage } from '../../../console/browser.ts'
import { FRAMEWORKS, PREFIXES, serveConsole } from '../../../console/console-host.ts'
import type { RunningConsole } from '../../../console/console-server.ts'
import { serviceOrSkip } from '../../../queues/services.ts'
import { openPostgresql, openSqlite, type TestDatabase } from '../../../storage/databases.ts'
import { UNHURRIED_MS } from '../../../support/unhurried.ts'
import { type OtherSite, serveOtherSite } from './other-site.ts'
import { accessByCookie, addDispatches, cookieFor, TENANTS, type Tenant, tenantsSallyport } from './two-tenants.ts'

const withBrowser = await serviceOrSkip('chromium')

const CHANGES = /^(Cancel|Retry|Suppress|Remove)$/

/** Posts as the console's own script does, and returns the status. */
const POST = `(path, body) => fetch(new URL('api/outbound/' + path, document.baseURI), {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-sallyport-console': '1' },
  body: JSON.stringify(body),
}).then(({ status }) => status)`

withBrowser('access in a browser', () => {
  let browser: Browser
  let other: OtherSite
  const contexts: BrowserContext[] = []
  beforeAll(async () => {
    browser = await openBrowser()
    other = await serveOtherSite()
  })
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close()
  })
  afterAll(async () => {
    await browser.close()
    await other.close()
  })

  /** A page of one user, in a profile of its own. */
  async function pageOf(url: string, access: ConsoleLevel, tenant: Tenant) {
    const opened = await openPage(browser)
    const context = opened.page.context()
    contexts.push(context)
    await context.addCookies([{ ...cookieFor(access, tenant), url: new URL(url).origin }])
    return opened
  }

  const kinds: readonly (readonly [string, () => Promise<TestDatabase>, 'sqlite' | 'postgresql'])[] = [
    ['SQLite', openSqlite, 'sqlite'],
    ['PostgreSQL', openPostgresql, 'postgresql'],
  ]
  withBrowser.each(kinds)('on %s', (_, openDatabase, dialect) => {
    let database: TestDatabase
    let sallyport: Sallyport & ConsentApi
    beforeAll(async () => {
      database = await openDatabase()
      const store = sqlStore({ db: database.connect(), dialect, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      sallyport = await tenantsSallyport(store)
    })
    afterAll(() => database.close())

    withBrowser.each(hostsOn(dialect))('in %s at %s', (framework, prefix) => {
      let host: RunningConsole
      beforeAll(async () => {
        host = await serveConsole(framework, sallyport, prefix, { access: accessByCookie })
      })
      afterAll(() => host.close())

      const statusOf = async (dispatchId: string): Promise<string | undefined> =>
        (await sallyport.dispatches.get(dispatchId, { tenant: 'acme' }))?.status

      it('Without access every path is 404, that of a script too', async () => {
        const staff = await pageOf(host.url, 'read', 'acme')
        const loaded: string[] = []
        staff.page.on('response', (response) => loaded.push(response.url()))
        await staff.page.goto(host.url)
        await staff.page.getByRole('heading', { name: 'Overview' }).waitFor()
        expect(loaded.filter((url) => url.includes('/assets/')).length).toBeGreaterThanOrEqual(2)
        const { page } = await pageOf(host.url, 'none', 'acme')
        for (const url of [...loaded, host.url.slice(0, -1), `${host.url}preview`, `${host.url}dispatches`])
          expect([url, (await page.goto(url))?.status()]).toEqual([url, 404])
      })

      it('With read every screen opens without a button that changes, and a forged POST is 403', async () => {
        const { due, failed } = await addDispatches(sallyport, 'acme')
        const { page, complaints } = await pageOf(host.url, 'read', 'acme')
        for (const path of ['', `dispatches/${due}`, `dispatches/${failed}`, 'suppressions']) {
          await show(page, host.url + path)
          expect(await page.getByRole('button', { name: CHANGES }).count()).toBe(0)
        }
        expect(complaints).toEqual([])
        const address = { channel: 'email', address: 'bad@acme.example' }
        for (const [path, body] of [
          [`dispatches/${due}/cancel`, {}],
          [`dispatches/${failed}/retry`, {}],
          ['suppressions/add', { ...address, address: 'new@acme.example' }],
          ['suppressions/remove', address],
        ])
          expect(await page.evaluate(`(${POST})(${JSON.stringify(path)}, ${JSON.stringify(body)})`)).toBe(403)
        expect([await statusOf(due), await statusOf(failed)]).toEqual(['queued', 'failed'])
        const { items } = await sallyport.suppressions.list({ tenant: 'acme' })
        expect(items).toHaveLength(1)
      })

      it('With operate a dispatch is cancelled, another retried, and an address suppressed and released', async () => {
        const { due, failed } = await addDispatches(sallyport, 'acme')
        const { page, complaints } = await pageOf(host.url, 'operate', 'acme')
        const find = () => sallyport.suppressions.find({ tenant: 'acme', address: 'new@acme.example' })
        await show(page, `${host.url}dispatches/${due}`)
        await confirm(page, 'Cancel', 'Cancelled 1.')
        expect(await statusOf(due)).toBe('cancelled')
        await show(page, `${host.url}dispatches/${failed}`)
        await confirm(page, 'Retry', 'Queued 1 again.')
        expect(await statusOf(failed)).toBe('queued')
        await show(page, `${host.url}suppressions`)
        await page.getByLabel('Address').fill('new@acme.example')
        await confirm(page, 'Suppress', 'Suppressed: manual on email.')
        expect(await find()).toHaveLength(1)
        await confirm(page, 'Remove', 'It is not suppressed.')
        expect(await find()).toEqual([])
        expect(complaints).toEqual([])
      })

      // The screens read the same everywhere: only one framework walks through all of them.
      const isWhole = framework === FRAMEWORKS[0]
      const places = isWhole ? 'on no screen and by no URL' : 'in a list, and by the URL of a dispatch'
      it(`Two tenants never see one another, ${places}`, async () => {
        const ids = Object.fromEntries(
          await Promise.all(TENANTS.map(async (tenant) => [tenant, await addDispatches(sallyport, tenant)] as const)),
        )
        for (const tenant of TENANTS) {
          const foreign = TENANTS.find((name) => name !== tenant) ?? tenant
          const { page, complaints } = await pageOf(host.url, 'operate', tenant)
          const own = ids[tenant]?.due
          for (const path of [
            'dispatches',
            `dispatches/${own}`,
            'sessions',
            `sessions/${tenant}-session`,
            `sessions/${tenant}-session/runs/${tenant}-run`,
            'runs',
            'suppressions',
            'tokens',
          ].slice(0, isWhole ? undefined : 2)) {
            await show(page, host.url + path)
            const text = await page.locator('body').innerText()
            expect([path, text.match(/acme|globex/g)?.every((name) => name === tenant)]).toEqual([path, true])
            expect(text.includes(ids[foreign]?.due ?? '')).toBe(false)
          }
          await show(page, host.url)
          expect(complaints).toEqual([])
          for (const [path, problem] of [
            [`dispatches/${ids[foreign]?.due}`, 'There is no such dispatch.'],
            [`sessions/${foreign}-session`, 'There is no such session.'],
            [`sessions/${foreign}-session/runs/${foreign}-run`, 'There is no such run.'],
            [`dispatches?recipient=jane%40${foreign}.example`, 'Nothing matches the recipient'],
            [`runs?sessionId=${foreign}-session`, 'Nothing matches the session'],
            [`tokens?sessionId=${foreign}-session`, 'Nothing matches the session'],
          ].slice(0, isWhole ? undefined : 1)) {
            await show(page, host.url + path)
            await page.getByText(problem ?? '').waitFor()
          }
        }
      })

      // As with a cookie that goes with requests of every site, or access by the network.
      it.each(['localhost', '127.0.0.1'] as const)(
        'A page of another origin on %s changes, reads, loads and frames nothing, though its requests have access',
        async (hostname) => {
          const open = await serveConsole(framework, sallyport, prefix, {
            access: () => ({ access: 'operate', tenant: 'acme' }),
          })
          const { due } = await addDispatches(sallyport, 'acme')
          const { page } = await pageOf(open.url, 'operate', 'acme')
          await page.goto(open.url)
          const script = await page.locator('script[src]').getAttribute('src')
          await page.goto(other.urlOf(hostname, ''))
          expect(await page.evaluate(`(${ATTACK})(${JSON.stringify({ base: open.url, due, script })})`)).toEqual([])
          await page.goto(other.urlOf(hostname, framesOf([open.url, `${open.url}dispatches`])))
          expect(framedBy(page, open.url)).toEqual([])
          const change = `${open.url}api/outbound/dispatches/${due}/cancel`
          await page.evaluate(`(${POST_FORM})(${JSON.stringify(change)})`)
          await page.waitForURL(change)
          expect(await page.locator('body').innerText()).toContain('insufficient_scope')
          expect(await statusOf(due)).toBe('queued')
          await open.close()
        },
      )
    })
  })

  withBrowser('behind a host that lets everyone in', () => {
    let sallyport: Sallyport & ConsentApi
    let host: RunningConsole
    beforeAll(async () => {
      sallyport = await tenantsSallyport(memoryStore())
      host = await serveConsole('node', sallyport, '/ops', { access: () => ({ access: 'operate', tenant: 'acme' }) })
    })
    afterAll(() => host.close())

    it.each(['localhost', '127.0.0.1'] as const)('A page of another origin on %s frames nothing', async (hostname) => {
      const { page } = await pageOf(host.url, 'operate', 'acme')
      for (const path of ['', 'dispatches', 'preview', 'api/outbound/dispatches', 'assets/nothing']) {
        await page.goto(other.urlOf(hostname, framesOf([host.url + path])))
        expect(framedBy(page, host.url)).toEqual([])
      }
    })

    it.each(['localhost', '127.0.0.1'] as const)(
      'A page of another origin on %s that opens the console gets no hold of its window',
      async (hostname) => {
        const { page } = await pageOf(host.url, 'operate', 'acme')
        await page.goto(other.urlOf(hostname, ''))
        const [popup] = await Promise.all([
          page.waitForEvent('popup'),
          page.evaluate(`void (globalThis.opened = open(${JSON.stringify(host.url)}))`),
        ])
        await popup.getByRole('heading', { name: 'Overview' }).waitFor()
        expect(await popup.evaluate('opener')).toBeNull()
        await page.waitForFunction('opened.closed')
      },
    )

    it('A host that allows other origins by CORS shows them nothing', async () => {
      const lenient = await serveConsole('node', sallyport, '/ops', {
        access: () => ({ access: 'operate', tenant: 'acme' }),
        cors: true,
      })
      const { due } = await addDispatches(sallyport, 'acme')
      const { page } = await pageOf(lenient.url, 'operate', 'acme')
      await page.goto(other.urlOf('localhost', ''))
      const answers = await page.evaluate(`(${ASK})(${JSON.stringify({ base: lenient.url, due })})`)
      expect(answers).toEqual([
        [403, expect.stringContaining('insufficient_scope')],
        [403, expect.stringContaining('insufficient_scope')],
      ])
      expect((await sallyport.dispatches.get(due, { tenant: 'acme' }))?.status).toBe('queued')
      await lenient.close()
    })
  })
})

/** The frameworks, each with a prefix: the databases together have every prefix, and every framework two. */
function hostsOn(dialect: 'sqlite' | 'postgresql') {
  const first = dialect === 'sqlite' ? 0 : FRAMEWORKS.length
  return FRAMEWORKS.map((framework, at) => [framework, PREFIXES[(first + at) % PREFIXES.length] ?? '/ops'] as const)
}

/** HTML that frames pages in every way. */
function framesOf(urls: readonly string[]): string {
  return urls
    .map(
      (url) =>
        `<iframe src="${url}"></iframe><iframe sandbox="allow-scripts allow-same-origin" src="${url}"></iframe>
<object type="text/html" data="${url}"></object><embed src="${url}">`,
    )
    .join('')
}

/** URLs below `url` that a page shows in frames. */
function framedBy(page: Page, url: string): readonly string[] {
  const [, ...framed] = page.frames()
  expect(framed.length).toBeGreaterThanOrEqual(2)
  return framed.map((frame) => frame.url()).filter((shown) => shown.startsWith(url))
}

/** Opens a page and waits until it has loaded. */
async function show(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(() => page.getByText('Loading …').count()).toBe(0)
}

async function confirm(page: Page, name: string, said: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click()
  await page.getByRole('button', { name: `Yes, ${name.toLowerCase()}` }).click()
  await page.getByText(said).waitFor()
}

/** Everything that a script of another origin can try. Lists the answers that it could read and the files that it could load. */
const ATTACK = `async ({ base, due, script }) => {
  const change = base + 'api/outbound/dispatches/' + due + '/cancel'
  const list = base + 'api/outbound/dispatches'
  const headers = { 'content-type': 'application/json', 'x-sallyport-console': '1' }
  const credentials = 'include'
  const gained = []
  for (const [url, init] of [
    [change, { method: 'POST', mode: 'no-cors', credentials, body: '{}' }],
    [change, { method: 'POST', mode: 'no-cors', credentials, headers: { 'content-type': 'text/plain' }, body: '{}' }],
    [change, { method: 'POST', credentials, headers, body: '{}' }],
    [change, { method: 'POST', headers, body: '{}' }],
    [list, { credentials }],
    [list, { credentials, mode: 'no-cors' }],
    [base, { credentials }],
    [base + script, { credentials, mode: 'no-cors' }],
  ])
    await fetch(url, init).then(({ type }) => type === 'opaque' || gained.push(url), () => {})
  for (const [name, attribute, url] of [
    ['script', 'src', base + script],
    ['script', 'src', list],
    ['img', 'src', list],
    ['link', 'href', list],
  ])
    await new Promise((resolve) => {
      const element = document.createElement(name)
      element.onload = () => resolve(gained.push(name + ' ' + url))
      element.onerror = resolve
      element.rel = 'stylesheet'
      element[attribute] = url
      document.head.append(element)
    })
  navigator.sendBeacon(change, '{}')
  return gained
}`

const ASK = `({ base, due }) => Promise.all([
  ['api/outbound/dispatches', {}],
  ['api/outbound/dispatches/' + due + '/cancel', { method: 'POST', headers: { 'x-sallyport-console': '1' } }],
].map(([path, init]) => fetch(base + path, { ...init, credentials: 'include' }).then(async (answer) => [answer.status, await answer.text()])))`

const POST_FORM = `(action) => {
  const form = Object.assign(document.createElement('form'), { method: 'POST', enctype: 'text/plain', action })
  form.append(Object.assign(document.createElement('input'), { name: '{"a":"', value: '"}' }))
  document.body.append(form)
  form.submit()
}`
