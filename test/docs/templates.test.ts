import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import mjml from 'mjml'
import PostalMime, { type Email } from 'postal-mime'
import { createSallyport, defineEvents, type EventCatalog } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { memoryStore } from 'sallyport/storage/memory'
import { afterAll, expect, test } from 'vitest'
import { inbox, transportTo } from '../channels/letters.ts'
import { documented } from '../support/documented.ts'
import { ROOT } from '../support/entries.ts'

const folder = fileURLToPath(new URL('test/docs/.snippets-templates/', ROOT))
mkdirSync(folder, { recursive: true })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const PAGE = 'docs/templates.md'
const { orders } = await moduleOf('orders.tsx', "from 'react-email'")
const { invoices } = await moduleOf('invoices.ts', "from 'mjml'")

/** Runs a block of the page as printed. */
async function moduleOf(file: string, text: string): Promise<Readonly<Record<string, EventCatalog>>> {
  writeFileSync(folder + file, documented(PAGE, text))
  return import(/* @vite-ignore */ folder + file)
}

/** Dispatches an event, delivers it to an SMTP server, and reads the mail. */
async function received(events: EventCatalog | undefined, eventType: string, eventData: object): Promise<Email> {
  const { port, letters } = await inbox()
  const sallyport = createSallyport({
    auth: { verify: async () => ({ id: 'test', tenant: 'default' }) },
    events: events as EventCatalog<Record<string, object>>,
    store: memoryStore(),
    channels: { email: email(transportTo(port), { from: 'shop@example.com' }) },
  })
  const answer = await sallyport.dispatch({ eventType, recipient: 'ada@example.test', eventData })
  expect(answer).toMatchObject({ status: 202, body: { status: 'queued' } })
  expect(await sallyport.worker.runDue()).toMatchObject({ sent: 1 })
  await sallyport.stop()
  return PostalMime.parse(letters[0] ?? '')
}

test('A mail by React Email arrives with its HTML and its text, and the data are escaped', async () => {
  const name = 'Ada <script>alert(1)</script>'
  const { subject, html, text } = await received(orders, 'order.shipped', { name, url: 'https://example.com/t?a=1' })
  expect(subject).toBe('Your order is on its way')
  expect(html).toMatch(/^<!DOCTYPE html.*<html[^>]*lang="en"/s)
  expect(html).toContain('Ada &lt;script&gt;alert(1)&lt;/script&gt;')
  expect(html).toContain('href="https://example.com/t?a=1"')
  expect(text).toContain(`Hello ${name}, your order is on its way.`)
})

test('A mail by MJML arrives as its HTML, and Liquid escapes the data', async () => {
  const { subject, html } = await received(invoices, 'invoice.issued', {
    name: '<b>Ada</b>',
    url: 'javascript:alert(1)',
  })
  expect(subject).toBe('Your invoice')
  expect(html).toContain('Hello &lt;b&gt;Ada&lt;/b&gt;, your invoice is ready.')
  expect(html).toContain('href="#"')
  expect(html).toContain('<table')
  expect(html).not.toMatch(/javascript:|\{\{/)
  const linked = await received(invoices, 'invoice.issued', { name: 'Ada', url: 'https://example.com/i' })
  expect(linked.html).toContain('href="https://example.com/i"')
})

test('A mail by MJML in an asynchronous field arrives', async () => {
  const layout = (name: string): string =>
    `<mjml><mj-body><mj-section><mj-column><mj-text>Hello ${name}</mj-text></mj-column></mj-section></mj-body></mjml>`
  const html = async ({ recipient }: { recipient: { id: string } }) => (await mjml(layout(recipient.id))).html
  const events = defineEvents({ news: { channels: { email: { subject: () => 'News', html } } } })
  expect((await received(events, 'news', {})).html).toContain('Hello ada@example.test')
})
