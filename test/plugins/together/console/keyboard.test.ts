import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sallyport } from '../../../../src/index.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { focusedText, openBrowser, openPage, PATIENT } from '../../../console/browser.ts'
import { openConsole, type RunningConsole } from '../../../console/console-server.ts'
import { filledSallyport } from '../../../console/filled.ts'
import { serviceOrSkip } from '../../../queues/services.ts'

const withBrowser = await serviceOrSkip('chromium')

/** Tabs to what has this text or label. Everything on the way shows that it has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(() => page.getByText('Loading …').count()).toBe(0)
  const passed: string[] = []
  for (let steps = 0; steps < 120; steps++) {
    await page.keyboard.press('Tab')
    const text = await focusedText(page)
    expect([text, await isFocusVisible(page)]).toEqual([text, true])
    if (name.test(text)) return
    passed.push(text.slice(0, 20))
  }
  throw new Error(`Tab does not reach ${name}, but ${passed.join(', ')}`)
}

function isFocusVisible(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const { document, getComputedStyle } = globalThis as never as {
      document: { activeElement: { closest(selector: string): object | null } & object; body: object }
      getComputedStyle(of: object): { outlineStyle: string; outlineWidth: string }
    }
    const { activeElement } = document
    if (activeElement === document.body) return true
    const { outlineStyle, outlineWidth } = getComputedStyle(activeElement.closest('.chart') ?? activeElement)
    return outlineStyle !== 'none' && outlineWidth !== '0px'
  })
}

withBrowser('the keyboard alone', () => {
  let browser: Browser
  let sallyport: Sallyport
  let host: RunningConsole
  beforeAll(async () => {
    browser = await openBrowser()
    sallyport = await filledSallyport(memoryStore())
    host = await openConsole(sallyport)
  })
  afterAll(async () => {
    await host.close()
    await browser.close()
  })

  it.each(['Dispatches', 'Events', 'Sessions', 'Runs', 'Suppressions', 'Tokens'])(
    'The screen %s opens, and its heading has the focus',
    async (name) => {
      const { page } = await openPage(browser)
      await page.goto(host.url)
      await tabTo(page, new RegExp(`^${name}$`))
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await expect.poll(() => focusedText(page), PATIENT).toMatch(new RegExp(`^${name}`))
      await page.close()
    },
  )

  it('A run is opened from its session', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${host.url}sessions`)
    for (const [link, heading] of [
      [/^s1$/, 'Session s1'],
      [/^child/, 'Run child'],
    ] as const) {
      await tabTo(page, link)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await expect.poll(() => focusedText(page), PATIENT).toBe(heading)
    }
    await page.close()
  })

  it('The content of a dispatch is shown and hidden', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${host.url}dispatches?sessionId=s1`)
    await tabTo(page, /^dsp_/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Dispatch dsp_/ }).waitFor()
    await tabTo(page, /^Show content$/)
    await page.keyboard.press('Enter')
    await page.frameLocator('iframe').locator('#shipped').waitFor()
    await expect.poll(() => focusedText(page), PATIENT).toBe('Hide content')
    await page.keyboard.press('Enter')
    await page.locator('iframe').waitFor({ state: 'detached' })
    await page.close()
  })

  it('An event is run dry', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${host.url}events/order.shipped`)
    await tabTo(page, /^Recipient$/)
    await page.keyboard.type('jane@example.com')
    await tabTo(page, /^Data of the event/)
    await page.keyboard.press('Control+A')
    await page.keyboard.type('{"number": 12}')
    await page.getByText('The dispatch would be').waitFor()
    await page.getByText('Order 12').waitFor()
    await page.close()
  })

  it('A list is filtered, turned page by page, and its filters are cleared', async () => {
    for (let at = 0; at < 51; at++)
      await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'many@example.com' })
    const { page } = await openPage(browser)
    await page.goto(`${host.url}dispatches`)
    await tabTo(page, /^Recipient$/)
    await page.keyboard.type('many@example.com')
    await page.keyboard.press('Enter')
    const list = page.locator('.shown[aria-busy="false"]')
    await list.waitFor()
    const rows = list.locator('tbody tr')
    for (const [button, count] of [
      [/^Next page$/, 1],
      [/^First page$/, 50],
    ] as const) {
      await tabTo(page, button)
      await page.keyboard.press('Enter')
      await expect.poll(() => rows.count(), PATIENT).toBe(count)
      await expect.poll(() => focusedText(page), PATIENT).toBe('Dispatches')
    }
    await tabTo(page, /^Status/)
    await page.keyboard.press('s')
    await page.getByText('Nothing matches the status').waitFor()
    await tabTo(page, /^Clear filters$/)
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'many@example.com' }).first().waitFor()
    await expect.poll(() => focusedText(page), PATIENT).toBe('Dispatches')
    expect(new URL(page.url()).search).toBe('')
    await page.close()
  })

  it('The confirmation of a change takes the focus, Escape and No give it back, and Enter changes', async () => {
    await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'key@example.com' })
    const { page } = await openPage(browser)
    await page.goto(`${host.url}dispatches?recipient=key%40example.com`)
    await tabTo(page, /^dsp_/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Dispatch dsp_/ }).waitFor()
    await tabTo(page, /^Cancel$/)
    for (const end of [['Escape'], ['Tab', 'Enter']]) {
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Yes, cancel' }).waitFor()
      await expect.poll(() => focusedText(page), PATIENT).toBe('Yes, cancel')
      for (const key of end) await page.keyboard.press(key)
      await page.getByRole('button', { name: 'Yes, cancel' }).waitFor({ state: 'detached' })
      await expect.poll(() => focusedText(page), PATIENT).toBe('Cancel')
    }
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await page.getByText('Cancelled 1.').waitFor()
    await expect.poll(() => focusedText(page), PATIENT).toBe('Cancel')
    await page.close()
  })

  it('A failed dispatch is queued again', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${host.url}dispatches?status=failed`)
    await tabTo(page, /^dsp_/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Dispatch dsp_/ }).waitFor()
    await tabTo(page, /^Retry$/)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await page.getByText('Queued 1 again.').waitFor()
    await page.close()
  })

  it('An address is suppressed and released', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${host.url}suppressions`)
    await tabTo(page, /^Address/)
    await page.keyboard.type('typed@example.com')
    await page.keyboard.press('Enter')
    await page.getByText('It is not suppressed.').waitFor()
    for (const [change, said] of [
      ['Suppress', 'Suppressed: manual on email.'],
      ['Remove', 'It is not suppressed.'],
    ] as const) {
      await tabTo(page, new RegExp(`^${change}$`))
      await page.keyboard.press('Enter')
      await page.keyboard.press('Enter')
      await page.getByText(said).waitFor()
    }
    await page.close()
  })

  it('A value of a plot is read with the arrow keys, and the large plot opened', async () => {
    const { page } = await openPage(browser)
    await page.goto(host.url)
    await tabTo(page, /^Accepted dispatches by time$/)
    await page.keyboard.press('ArrowLeft')
    const read = page.getByRole('slider', { name: 'Accepted dispatches by time' })
    expect(await read.getAttribute('aria-valuetext')).toMatch(/: \d+ dispatches$/)
    await tabTo(page, /^Open plot/)
    await page.keyboard.press('Enter')
    await page.locator('.uplot').waitFor()
    await page.close()
  })

  it('Polling takes neither the focus nor what is half typed', async () => {
    const { page } = await openPage(browser)
    await page.clock.install()
    await page.goto(`${host.url}dispatches?eventType=order.shipped`)
    await tabTo(page, /^Recipient$/)
    await page.keyboard.type('half')
    await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'polled@example.com' })
    await page.clock.runFor(2_000)
    await page.getByText('polled@example.com').waitFor()
    await page.route('**/api/**', (route) => route.abort())
    await page.clock.runFor(2_000)
    await page.getByRole('alert').waitFor()
    expect(await page.getByLabel('Recipient').inputValue()).toBe('half')
    await expect.poll(() => focusedText(page), PATIENT).toMatch(/^Recipient/)
    await page.close()
  })
})
