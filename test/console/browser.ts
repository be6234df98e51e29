import { spawnSync } from 'node:child_process'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { chromium as installedChromium } from '../docs/browser.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'

/** Starts the installed Chromium, driven over its own protocol. */
export function openBrowser(): Promise<Browser> {
  const name = installedChromium() ?? ''
  const executablePath = spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim()
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'], timeout: UNHURRIED_MS })
}

/** Options of `expect.poll`, which waits as long as a test may take. */
export const PATIENT: { readonly timeout: number } = { timeout: UNHURRIED_MS }

export interface WatchedPage {
  readonly page: Page
  /** Everything that a browser complains about: errors of scripts, of the policy, and failed requests. */
  readonly complaints: string[]
}

export async function openPage(
  browser: Browser,
  options: Parameters<Browser['newPage']>[0] = {},
): Promise<WatchedPage> {
  const page = await browser.newPage(options)
  // The time limit of a test ends all waits.
  page.setDefaultTimeout(0)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('requestfailed', (request) => {
    // A screen that is left stops its reads.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(`failed: ${request.url()}`)
  })
  return { page, complaints }
}

/** True if the page is wider than its window. */
export function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = Reflect.get(globalThis, 'document').documentElement
    return scrollWidth > clientWidth
  })
}

/** Text, or label, of what has the focus. */
export function focusedText(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { activeElement } = Reflect.get(globalThis, 'document')
    return activeElement?.ariaLabel ?? activeElement?.labels?.[0]?.textContent ?? activeElement?.textContent ?? ''
  })
}

/** Hides the page, or shows it again, as a browser does when another tab is opened. */
export async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    const { document, Event } = globalThis as never as {
      document: object & { dispatchEvent(event: object): void }
      Event: new (name: string) => object
    }
    Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, isHidden)
}

/** The rules of axe-core that a page breaks, each with the elements. A frame with the content of a mail is not of the console. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const isLoaded = await page.evaluate(() => 'axe' in globalThis)
  if (!isLoaded) await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { violations } = await Reflect.get(globalThis, 'axe').run({ iframes: false, resultTypes: ['violations'] })
    return violations.map(
      ({ id, nodes }: { id: string; nodes: { html: string }[] }) =>
        `${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
    )
  })
}
