import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sallyport } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { openBrowser, openPage } from './browser.ts'
import { openConsole, type RunningConsole } from './console-server.ts'
import { filledSallyport } from './filled.ts'

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
      ...['providerMessageId', 'deliveryId', 'reason', 'lastCode'],
    ],
  ],
  ['events', ['eventType', 'category', 'channel']],
  ['events/order.shipped', []],
  ['sessions', ['sessionId']],
  ['sessions/s1', ['runId', 'parentRunId', 'name', 'model', 'status', 'level', 'eventType', 'provider']],
  ['sessions/s1/runs/child', ['status', 'sessionId', 'parentRunId', 'message']],
  ['runs', ['runId', 'status', 'sessionId', 'provider', 'model']],
  ['suppressions', ['reason', 'channel', 'source', 'addressKey']],
  ['tokens', ['outcome', 'operation', 'id', 'jti', 'sessionId']],
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
      const ran: string[] = []
      beforeAll(async () => {
        // `redact` puts a payload in the place of each text, so no field is forgotten.
        host = await openConsole(sallyport, {
          access: () => ({ access: 'operate', user: payloadOf('user') }),
          title: payloadOf('title').slice(0, 100),
          redact: (value, { field }) =>
            typeof value !== 'string' || KEPT.includes(field) || INSTANT.test(value) ? value : payloadOf(field),
        })
        page = (await openPage(browser)).page
        await page.exposeFunction('ran', (field: string) => ran.push(field))
      })
      afterAll(async () => {
        await page.close()
        await host.close()
      })

      it.each(SCREENS)(
        'On the screen "%s" nothing runs, and what callers sent is shown as text',
        async (path, fields) => {
          await page.goto(host.url + path.replace('{dispatchId}', dispatchId))
          await page.getByRole('heading', { level: 1 }).waitFor()
          await page.getByText('Loading …').waitFor({ state: 'detached' })
          if (path.startsWith('dispatches/')) await page.getByRole('button', { name: 'Show content' }).click()
          const text = (await page.locator('body').textContent()) ?? ''
          const startOf = (field: string): string => payloadOf(field).slice(0, field.length + 16)
          expect(fields.filter((field) => !text.includes(startOf(field)))).toEqual([])
          const schemes = await page
            .locator('a')
            .evaluateAll((links) => links.map((link) => Reflect.get(link, 'protocol')))
          expect(new Set(schemes)).toEqual(new Set(['http:']))
          expect(ran).toEqual([])
        },
      )
    })
})
