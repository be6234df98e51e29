import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { treeRows } from '../../src/console/app/session-rows.ts'
import type { Run, Sallyport } from '../../src/index.ts'
import { priceBook } from '../../src/pricing/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { APP } from '../support/deps.ts'
import { openBrowser, openPage, PATIENT } from './browser.ts'
import { openConsole, type RunningConsole } from './console-server.ts'
import { filledSallyport } from './filled.ts'

const withBrowser = await serviceOrSkip('chromium')

function runOf(runId: string, parentRunId?: string): Run {
  const at = '2026-11-24T07:00:00Z'
  const times = { createdAt: at, updatedAt: at, lastSeenAt: at }
  return { ...{ sessionId: 's', runId, status: 'running', revision: 1 }, ...times, ...(parentRunId && { parentRunId }) }
}

function shapeOf(...runs: readonly Run[]): readonly string[] {
  return treeRows(runs).map(
    ({ run, depth, isParentElsewhere }) => `${'-'.repeat(depth)}${run.runId}${isParentElsewhere ? '?' : ''}`,
  )
}

describe('the tree of a page', () => {
  it('Children stand below their parent, in order, whatever order they come in', () => {
    expect(shapeOf(runOf('c', 'b'), runOf('a'), runOf('b', 'a'), runOf('d', 'a'))).toEqual(['a', '-b', '--c', '-d'])
  })

  it('A run whose parent is not on the page stands at the root', () => {
    expect(shapeOf(runOf('a'), runOf('c', 'b'), runOf('d', 'c'))).toEqual(['a', 'c?', '-d'])
  })

  it('Runs that are their own ancestors are each shown once', () => {
    expect(shapeOf(runOf('a', 'b'), runOf('b', 'a'), runOf('c', 'c'), runOf('d'))).toEqual(['d', 'a', '-b', 'c'])
  })
})

withBrowser('a session of more than one page', () => {
  let browser: Browser
  let host: RunningConsole
  let sallyport: Sallyport
  beforeAll(async () => {
    browser = await openBrowser()
    const prices = priceBook({
      ...{ version: '1', currency: 'EUR', per: 1 },
      prices: [{ model: 'gpt-5', input: '0.001', output: 0 }],
    })
    sallyport = await filledSallyport(memoryStore(), { prices })
    await record()
    host = await openConsole(sallyport)
  })
  afterAll(async () => {
    await host.close()
    await browser.close()
  })

  /** 130 runs below the first of them, and a dispatch in the middle. */
  async function record(): Promise<void> {
    for (let at = 0; at < 130; at++) {
      await recordRun('long', at)
      if (at === 50)
        await sallyport.dispatch({ eventType: 'order.shipped', recipient: 'jane@example.com', sessionId: 'long' })
    }
  }

  async function recordRun(sessionId: string, at: number): Promise<void> {
    const run = {
      ...{ runId: `run-${at}`, status: 'completed', provider: 'openai', model: 'gpt-5' },
      ...(at > 0 && { parentRunId: 'run-0' }),
      counts: { inputTokens: 1_000 + at, outputTokens: 1 },
    }
    const headers = { ...APP, 'content-type': 'application/json' }
    const body = JSON.stringify({ sessionId, run })
    const answer = await toFetch(sallyport)(
      new Request('http://127.0.0.1/api/agents/session/run', { method: 'POST', headers, body }),
    )
    if (!answer.ok) throw new Error(await answer.text())
  }

  it('Every run and dispatch is on one of its pages, with tokens and cost', async () => {
    const { page, complaints } = await openPage(browser)
    await page.goto(`${host.url}sessions/long`)
    const rows = page.locator('.times tbody tr')
    await expect.poll(() => rows.count(), PATIENT).toBe(100)
    expect(await page.getByRole('row', { name: /^order\.shipped/ }).count()).toBe(1)
    await page.getByRole('row', { name: /^run-3 .* 1,004 1\.003 EUR/ }).waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('row', { name: /^run-129 / }).waitFor()
    expect(await rows.count()).toBe(31)
    expect(new URL(page.url()).searchParams.has('cursor')).toBe(true)
    await page.getByText('below run-0, which is not on this page').first().waitFor()
    await page.reload()
    await page.getByRole('row', { name: /^run-129 / }).waitFor()
    await page.getByRole('button', { name: 'First page' }).click()
    await page.getByRole('row', { name: /^run-0 / }).waitFor()
    expect(complaints).toEqual([])
    await page.close()
  })

  it('The newest are one press away', async () => {
    const { page } = await openPage(browser)
    await page.goto(`${host.url}sessions/long`)
    await page.getByRole('button', { name: 'Newest 100' }).click()
    await page.getByRole('row', { name: /^run-129 / }).waitFor()
    await page.getByRole('button', { name: 'From the start' }).click()
    await page.getByRole('row', { name: /^run-0 / }).waitFor()
    await page.close()
  })

  it('A session that becomes longer than a page keeps its rows until its first page is read', async () => {
    for (let at = 0; at < 99; at++) await recordRun('growing', at)
    const { page, complaints } = await openPage(browser)
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    await page.route('**/timeline?*', async (route) => {
      await opened
      await route.continue()
    })
    await page.goto(`${host.url}sessions/growing`)
    const rows = page.locator('.times tbody tr')
    await expect.poll(() => rows.count(), PATIENT).toBe(99)
    await recordRun('growing', 99)
    await recordRun('growing', 100)
    await page.waitForRequest(/timeline/)
    await page.getByRole('row', { name: /^run-100 / }).waitFor()
    expect(await rows.count()).toBe(100)
    expect(await page.getByRole('button', { name: 'Next page' }).count()).toBe(0)
    open()
    await page.getByRole('button', { name: 'Next page' }).waitFor()
    await page.getByRole('row', { name: /^run-0 / }).waitFor()
    expect(await rows.count()).toBe(100)
    expect(complaints).toEqual([])
    await page.close()
  })
})
