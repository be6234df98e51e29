import type { RequestListener } from 'node:http'
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { openBrowser, openPage, PATIENT, setHidden } from '../../../console/browser.ts'
import { consoleAt, type RunningConsole, serve } from '../../../console/console-server.ts'
import { filledSallyport } from '../../../console/filled.ts'
import { serviceOrSkip } from '../../../queues/services.ts'

const withBrowser = await serviceOrSkip('chromium')

/** Waits until the reads are answered, and lets the page handle the answers. */
async function settled(page: Page, reads: readonly Request[]): Promise<void> {
  for (const request of reads) await request.response()
  await page.evaluate(async () => {
    for (let turn = 0; turn < 3; turn++) await fetch('preview')
  })
}

/** Waits for the first answer. Effects of a screen wait for a frame, and so for the clock. */
async function drawn(page: Page): Promise<void> {
  await page.getByText('Loading …').waitFor()
  await page.clock.runFor(100)
  await expect.poll(() => page.getByText('Loading …').count()).toBe(0)
}

/** Screens, with the reads of each. */
const SCREENS = [
  ['', 1],
  ['sessions', 1],
  ['events', 1],
  ['sessions/s1', 2],
  ['dispatches/{dispatchId}', 1],
] as const

withBrowser('polling', () => {
  let browser: Browser
  let host: RunningConsole
  let dispatchId = ''
  /** What the host does instead of asking the console. */
  let instead: RequestListener | undefined
  beforeAll(async () => {
    browser = await openBrowser()
    const sallyport = await filledSallyport(memoryStore())
    dispatchId = (await sallyport.dispatches.list()).items[0]?.dispatchId ?? ''
    const own = consoleAt(sallyport)
    const isRead = (url = ''): boolean => url.includes('/api/')
    host = await serve((req, res) => (instead && isRead(req.url) ? instead : own)(req, res), '/ops')
  })
  afterAll(async () => {
    await host.close()
    await browser.close()
  })

  /** A screen at a stopped clock, and the reads that it has made. */
  async function opened(path = 'sessions') {
    instead = undefined
    const { page, complaints } = await openPage(browser)
    const reads: Request[] = []
    page.on('request', (request) => {
      if (request.url().includes('/api/')) reads.push(request)
    })
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.goto(host.url + path.replace('{dispatchId}', dispatchId))
    await drawn(page)
    await settled(page, reads)
    /** The number of reads that come of an action. */
    const readsAfter = async (act: () => Promise<void>): Promise<number> => {
      const before = reads.length
      await act()
      await settled(page, reads)
      return reads.length - before
    }
    /** Advances the clock, and gives the number of reads that came of it. */
    const readsWithin = (ms: number): Promise<number> => readsAfter(() => page.clock.runFor(ms))
    return { page, complaints, reads, readsAfter, readsWithin }
  }

  it.each(SCREENS)(
    'While /%s is visible it asks every two seconds with conditional requests, %i at once',
    async (path, many) => {
      const { page, complaints, reads, readsWithin } = await opened(path)
      expect([await readsWithin(1_900), await readsWithin(200), await readsWithin(2_000)]).toEqual([0, many, many])
      const urls = new Set(reads.map((request) => request.url()))
      expect(urls.size).toBe(many)
      for (const url of urls) {
        const tags = reads.filter((one) => one.url() === url).map((one) => one.headers()['if-none-match'])
        const tag = expect.stringMatching(/^"[0-9a-f]{32}"$/)
        expect(tags).toEqual([undefined, tag, tag])
      }
      expect(complaints).toEqual([])
      await page.close()
    },
  )

  it.each(SCREENS)(
    'While /%s is hidden it asks for nothing, and for all %i once when it is shown again',
    async (path, many) => {
      const { page, readsAfter, readsWithin } = await opened(path)
      await setHidden(page, true)
      expect(await readsWithin(3_600_000)).toBe(0)
      expect(await readsAfter(() => setHidden(page, false))).toBe(many)
      expect(await readsWithin(2_000)).toBe(many)
      await page.close()
    },
  )

  it.each(SCREENS)('A page that is hidden while /%s is read stops all %i reads', async (path, many) => {
    const { page, readsWithin } = await opened(path)
    let held = 0
    const asked = new Promise<void>((resolve) => {
      instead = () => {
        if (++held === many) resolve()
      }
    })
    const stopped: (string | undefined)[] = []
    page.on('requestfailed', (request) => stopped.push(request.failure()?.errorText))
    await page.clock.runFor(2_000)
    await asked
    await setHidden(page, true)
    await expect.poll(() => stopped, PATIENT).toEqual(Array(many).fill('net::ERR_ABORTED'))
    expect(await readsWithin(600_000)).toBe(0)
    await page.close()
  })

  it('A failing server is asked less and less, at least once a minute, and the screen recovers by itself', async () => {
    const { page, readsWithin } = await opened()
    instead = (_, res) => res.writeHead(503, { 'content-type': 'text/plain' }).end()
    expect(await readsWithin(2_000)).toBe(1)
    await page.getByText('The console asks again by itself.').waitFor()
    expect(await page.getByRole('link', { name: 's1' }).count()).toBe(1)
    for (const pause of [4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
      expect([pause, await readsWithin(pause - 100), await readsWithin(100)]).toEqual([pause, 0, 1])
    instead = undefined
    expect(await readsWithin(60_000)).toBe(1)
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(await readsWithin(2_000)).toBe(1)
    await page.close()
  })

  it.each([
    ['a redirect to a login page', 302, { location: '/login' }],
    ['a login page', 200, { 'content-type': 'text/html' }],
    ['401', 401, { 'content-type': 'text/html' }],
    ['403', 403, { 'content-type': 'text/plain' }],
    ['404', 404, { 'content-type': 'text/plain' }],
  ])(
    'When the session of the host ends with %s, a sentence says so, and a button reloads',
    async (_, status, headers) => {
      const { page, readsWithin } = await opened()
      instead = (_, res) => res.writeHead(status, headers).end()
      await readsWithin(2_000)
      await page.getByText('Your session has ended').waitFor()
      instead = undefined
      await page.getByRole('button', { name: 'Reload' }).click()
      await drawn(page)
      expect(await page.getByText('Your session has ended').count()).toBe(0)
      await page.close()
    },
  )

  it('A redirect to another site is not followed', async () => {
    const { page, complaints, readsWithin } = await opened()
    instead = (_, res) => res.writeHead(302, { location: 'https://login.invalid/' }).end()
    await readsWithin(2_000)
    await page.getByText('Your session has ended').waitFor()
    expect(complaints).toEqual([])
    await page.close()
  })

  it('Without access every read is 404: the session has ended; a dispatch that is gone has a sentence of its own', async () => {
    let access: 'read' | 'none' = 'read'
    const own = await serve(consoleAt(await filledSallyport(memoryStore()), { access: () => access }), '/ops')
    const { page } = await openPage(browser)
    await page.goto(`${own.url}dispatches/dsp_none`)
    await page.getByText('There is no such dispatch.').waitFor()
    await page.goto(`${own.url}dispatches`)
    await page.getByRole('link', { name: /^dsp_/ }).first().waitFor()
    access = 'none'
    await page.getByText('Your session has ended').waitFor()
    await page.close()
    await own.close()
  })
})
