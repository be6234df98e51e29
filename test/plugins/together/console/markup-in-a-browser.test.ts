import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Sallyport } from '../../../../src/index.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { openBrowser, openPage } from '../../../console/browser.ts'
import { openConsole, type RunningConsole } from '../../../console/console-server.ts'
import { filledSallyport, MARKUP, MARKUP_SESSION } from '../../../console/filled.ts'
import { serviceOrSkip } from '../../../queues/services.ts'

const withBrowser = await serviceOrSkip('chromium')

/** Texts that call `ran` if a page runs them: as an element, a handler, a URL, a template, or after the end of an attribute or a script. */
const PAYLOADS = {
  markup: (field: string): string => {
    const call = `ran('${field}')`
    return `${field}"'><img src=x onerror="${call}"><svg onload="${call}"></svg></script><script>${call}</script>{{${call}}}`
  },
  url: (field: string): string => `javascript:ran('${field}')//\u202e\u2066"&lt;&#106;`,
} as const

const INSTANT = /^\d{4}-\d\d-\d\dT/

/** Fields without a payload: the kind of an entry of a timeline decides which other fields it has. */
const KEPT = ['type']

/** Screens, with fields whose texts each shows. */
const SCREENS: readonly (readonly [path: string, fields: readonly string[]])[] = [
  ['', ['title', 'user']],
  ['dispatches', ['dispatchId', 'status', 'eventType', 'recipient', 'channel']],
  [
    'dispatches/{dispatchId}',
    [
      ...['status', 'eventType', 'recipient', 'by', 'sessionId', 'channel', 'outcome', 'code'],
      ...['providerMessageId', 'deliveryId', 'reason', 'lastCode', 'kind'],
    ],
  ],
  ['events', ['eventType', 'category', 'channel']],
  ['events/{eventType}', ['eventType', 'channel', 'status', 'reason', 'address', 'subject', 'rule', 'path']],
  ['sessions', ['sessionId']],
  ['sessions/s1', ['runId', 'parentRunId', 'name', 'model', 'status', 'level', 'eventType', 'provider']],
  ['sessions/s1/runs/child', ['status', 'sessionId', 'parentRunId', 'message']],
  ['runs', ['runId', 'status', 'sessionId', 'provider', 'model']],
  ['suppressions', ['reason', 'channel', 'source', 'addressKey']],
  ['tokens', ['outcome', 'operation', 'id', 'jti', 'sessionId']],
]

/** A status of an answer, which a browser logs by itself. */
const STATUS = /^Failed to load resource: the server responded with a status of 4/

/** Pages whose address has a payload in the place of `{}`, and what shows it. */
const ADDRESSES: readonly (readonly [path: string, shows: 'heading' | 'fields' | 'nothing'])[] = [
  ['dispatches/{}', 'heading'],
  ['events/{}', 'heading'],
  ['sessions/{}', 'heading'],
  ['sessions/{}/runs/child', 'nothing'],
  ['sessions/s1/runs/{}', 'heading'],
  ['{}', 'nothing'],
  ['?window={}', 'nothing'],
  ['sessions/s1?cursor={}', 'nothing'],
  // A field for a time shows times only.
  ['sessions?since={}&until={}', 'nothing'],
  ['recipients?recipient={}', 'heading'],
  ...Object.entries({
    dispatches: ['status', 'eventType', 'recipient', 'channel', 'sessionId', 'since', 'until', 'cursor'],
    runs: ['status', 'provider', 'model', 'userId', 'tag', 'sessionId', 'since', 'until'],
    suppressions: ['reason', 'channel'],
    tokens: ['outcome', 'jti', 'sessionId'],
  }).map(([path, names]) => [`${path}?${names.map((name) => `${name}={}`).join('&')}`, 'fields'] as const),
]

withBrowser('markup in every field of every answer', () => {
  let browser: Browser
  let sallyport: Sallyport
  let dispatchId = ''
  beforeAll(async () => {
    browser = await openBrowser()
    sallyport = await filledSallyport(memoryStore())
    const { items } = await sallyport.dispatches.list({ sessionId: 's1' })
    dispatchId = items[0]?.dispatchId ?? ''
  })
  afterAll(() => browser.close())

  for (const [kind, payloadOf] of Object.entries(PAYLOADS))
    withBrowser(`As ${kind}`, () => {
      let host: RunningConsole
      let page: Page
      let complaints: string[]
      const ran: string[] = []
      beforeAll(async () => {
        // `redact` puts a payload in the place of each text, so no field is forgotten.
        host = await openConsole(sallyport, {
          access: () => ({ access: 'operate', user: payloadOf('user') }),
          title: payloadOf('title').slice(0, 100),
          redact: (value, { field }) =>
            typeof value !== 'string' || KEPT.includes(field) || INSTANT.test(value) ? value : payloadOf(field),
        })
        const opened = await openPage(browser)
        page = opened.page
        complaints = opened.complaints
        await page.exposeFunction('ran', (field: string) => ran.push(field))
        // The name of the event is a payload too, and there is no such event.
        await page.route('**/outbound/dispatch', (route) =>
          route.continue({ postData: { ...route.request().postDataJSON(), eventType: 'order.shipped' } }),
        )
      })
      beforeEach(() => {
        complaints.length = 0
      })
      afterAll(async () => {
        await page.close()
        await host.close()
      })

      it.each(SCREENS)(
        'On the screen "%s" nothing runs, and what callers sent is shown as text',
        async (path, fields) => {
          const eventType = encodeURIComponent(payloadOf('eventType'))
          await page.goto(host.url + path.replace('{dispatchId}', dispatchId).replace('{eventType}', eventType))
          await page.getByRole('heading', { level: 1 }).waitFor()
          await expect.poll(() => page.getByText('Loading …').count()).toBe(0)
          if (path.startsWith('dispatches/')) await page.getByRole('button', { name: 'Show content' }).click()
          if (path.startsWith('events/')) await runDry(page, payloadOf('recipient'))
          if (path.includes('{')) await page.locator('iframe').first().waitFor()
          const text = (await page.locator('body').textContent()) ?? ''
          const startOf = (field: string): string => payloadOf(field).slice(0, field.length + 16)
          expect(fields.filter((field) => !text.includes(startOf(field)))).toEqual([])
          const schemes = await page
            .locator('a')
            .evaluateAll((links) => links.map((link) => Reflect.get(link, 'protocol')))
          expect(new Set(schemes)).toEqual(new Set(['http:']))
          expect({ ran, complaints }).toEqual({ ran: [], complaints: [] })
        },
      )

      it.each(ADDRESSES)('In the address /%s nothing runs, and it is shown as text in: %s', async (path, shows) => {
        const payload = payloadOf('id')
        await page.goto(host.url + path.replaceAll('{}', encodeURIComponent(payload)))
        const heading = page.getByRole('heading', { level: 1 })
        await heading.waitFor()
        await expect.poll(() => page.getByText('Loading …').count()).toBe(0)
        if (shows === 'heading') expect(await heading.textContent()).toContain(payload)
        if (shows === 'fields') {
          const fields = page.locator('input[id^=filter-][type=search]')
          const values = await fields.evaluateAll((inputs) => inputs.map((input) => Reflect.get(input, 'value')))
          expect(new Set(values)).toEqual(new Set([payload]))
        }
        expect({ ran, complaints: complaints.filter((text) => !STATUS.test(text)) }).toEqual({
          ran: [],
          complaints: [],
        })
      })
    })

  it('Names and ids that callers chose, and a dry run of what they would send, are shown as text', async () => {
    const host = await openConsole(sallyport)
    const { page, complaints } = await openPage(browser)
    await page.goto(`${host.url}sessions`)
    await page.getByRole('link', { name: MARKUP_SESSION }).click()
    await page.getByRole('heading', { level: 1, name: `Session ${MARKUP_SESSION}` }).waitFor()
    await page.getByRole('link', { name: 'hostile' }).first().click()
    await page.getByRole('heading', { name: 'Metadata' }).waitFor()
    await page.getByText(`${JSON.stringify(MARKUP)}: "note"`).waitFor()
    await page.goto(`${host.url}dispatches/${dispatchId}`)
    await page.getByRole('listitem').getByText(MARKUP).waitFor()
    await page.goto(`${host.url}events/order.shipped`)
    await runDry(page, MARKUP)
    await page.getByText(`Order ${MARKUP}`).waitFor()
    await page.frameLocator('iframe').locator('#shipped').waitFor()
    expect([await page.evaluate(() => Reflect.get(globalThis, 'ran')), complaints]).toEqual([undefined, []])
    await page.close()
    await host.close()
  })
})

/** Runs an event dry, with markup in the names and values of its data. */
async function runDry(page: Page, recipient: string): Promise<void> {
  await page.getByLabel('Recipient').fill(recipient)
  await page.getByLabel('Data of the event').fill(JSON.stringify({ number: MARKUP, urgent: false, [MARKUP]: MARKUP }))
  await page.getByText('The dispatch would be').waitFor()
}
