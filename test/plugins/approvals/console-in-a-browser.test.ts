import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { openBrowser, openPage, scrollsSideways, violationsOf } from '../../console/browser.ts'
import { openConsole, type RunningConsole } from '../../console/console-server.ts'
import { serviceOrSkip } from '../../queues/services.ts'
import { ADA, type ApprovalHost, approving, BOB, NAME } from './approving.ts'

const withBrowser = await serviceOrSkip('chromium')
const MARKUP = '<img src=x onerror="top.ran=1">'

withBrowser('approvals in the console', () => {
  let browser: Browser
  let console: RunningConsole
  let host: ApprovalHost
  let page: Page
  beforeAll(async () => {
    browser = await openBrowser()
  })
  beforeEach(async () => {
    host = approving()
    console = await openConsole(host.sallyport, { access: () => ({ access: 'operate', user: ADA }) })
    page = (await openPage(browser)).page
  })
  afterEach(async () => {
    await page.close()
    await console.close()
  })
  afterAll(() => browser.close())

  it('An approver finds what is open, sees all of it, and answers with a comment', async () => {
    await host.request({ message: `Refund ${MARKUP}?` })
    await page.goto(`${console.url}approvals`)
    await page.getByRole('link', { name: 'refund-1' }).click()
    await page.getByText(`Refund ${MARKUP}?`).waitFor()
    await page.getByText('"amount": 900').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.getByLabel('Comment').fill('Fine by me')
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('button', { name: 'Yes, accept' }).click()
    await page.getByText('You accepted.').waitFor()
    await page.getByText(`accept by ${ADA}, proved by console`).waitFor()
    expect(await host.sallyport.approvals.get(NAME)).toMatchObject({
      ...{ status: 'accepted', answers: [{ user: ADA, proof: 'console', comment: 'Fine by me' }] },
    })
    expect(await page.evaluate(() => Reflect.get(globalThis, 'ran'))).toBeUndefined()
    expect(await violationsOf(page)).toEqual([])
  })

  it('A form has the fields of the schema; a fault is said, and what was typed stays', async () => {
    const schema = {
      type: 'object',
      properties: {
        amount: { type: 'number', title: 'Amount', maximum: 900 },
        reason: { type: 'string', title: 'Reason', enum: ['damaged', 'late'] },
        tell: { type: 'boolean', title: 'Tell the customer' },
        parts: { type: 'array', title: 'Parts', items: { type: 'string', enum: ['goods', 'shipping'] } },
      },
      required: ['amount', 'reason'],
    }
    await host.request({ schema })
    await page.goto(`${console.url}approvals/s1/refund-1`)
    await page.getByLabel('Amount').fill('1000')
    await page.getByLabel('Reason').selectOption('late')
    await page.getByLabel('Tell the customer').selectOption('yes')
    await page.getByLabel('Parts').selectOption(['goods', 'shipping'])
    expect(await violationsOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('button', { name: 'Yes, accept' }).click()
    await page.getByText('content/amount').waitFor()
    await page.getByLabel('Amount').fill('500')
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('button', { name: 'Yes, accept' }).click()
    await page.getByText('You accepted.').waitFor()
    expect(await host.sallyport.approvals.get(NAME)).toMatchObject({
      answers: [{ content: { amount: 500, reason: 'late', tell: true, parts: ['goods', 'shipping'] } }],
    })
  })

  it('A user who is not asked is told so', async () => {
    await host.request({ recipients: [BOB] })
    await page.goto(`${console.url}approvals/s1/refund-1`)
    await page.getByText(`You are ${ADA}, who is not asked.`).first().waitFor()
    await page.goto(`${console.url}approvals/s1/unknown`)
    await page.getByText('There is no such approval').waitFor()
  })

  it('The session of an approval links to it, also at 360 px', async () => {
    await host.ask('/api/agents/session/run', 'asker', { sessionId: 's1', run: { runId: 'r1', status: 'running' } })
    await host.request()
    await page.setViewportSize({ width: 360, height: 800 })
    await page.goto(`${console.url}sessions/s1`)
    await page.locator('a[href$="/approvals/s1/refund-1"]').click()
    await page.getByRole('heading', { name: 'Approval refund-1' }).waitFor()
    await page.getByText('"amount": 900').waitFor()
    expect(await scrollsSideways(page)).toBe(false)
  })
})
