import { describe, expect, it } from 'vitest'
import { countingIds } from '../../support/deps.ts'
import { ADA, type ConsentApp, consentApp, KEY, NEXT_KEY } from './consenting.ts'

const SUPPRESSED = 'skipped suppressed'
const CSRF_FREE = { 'content-type': 'application/x-www-form-urlencoded' }

/** The link of the last mail. */
function linkOf({ email }: ConsentApp): string {
  const { content, links } = email.sent.at(-1) ?? {}
  const [link = ''] = /https:\S+/.exec(String(content?.text)) ?? []
  expect(links).toEqual({ unsubscribe: link })
  return link
}

function post(app: ConsentApp, link: string, body?: string | FormData): Promise<Response> {
  const headers = typeof body === 'string' ? CSRF_FREE : undefined
  return app.fetch(
    new Request(link, { method: 'POST', ...(body !== undefined && { body }), ...(headers && { headers }) }),
  )
}

async function outcomeOf(app: ConsentApp, eventType: string): Promise<string | undefined> {
  return (await app.outcomes(await app.send(eventType)))[0]
}

describe('unsubscribe links', () => {
  it('The link of a sent mail unsubscribes from its category by POST, and GET changes nothing', async () => {
    const app = consentApp()
    await app.send('news')
    const link = linkOf(app)
    expect(link).toMatch(/^https:\/\/app\.example\/api\/outbound\/unsubscribe\/[\w.-]+$/)
    for (const method of ['GET', 'HEAD']) expect((await app.fetch(new Request(link, { method }))).status).toBe(200)
    expect(await outcomeOf(app, 'news')).toBe('sent')
    for (let times = 0; times < 2; times++)
      expect((await post(app, link, 'List-Unsubscribe=One-Click')).status).toBe(200)
    expect(await outcomeOf(app, 'news')).toBe(SUPPRESSED)
    expect(await outcomeOf(app, 'order')).toBe('sent')
    expect(await outcomeOf(app, 'code')).toBe('sent')
    expect(await app.sallyport.suppressions.find({ address: ADA })).toMatchObject([
      { channel: 'email', reason: 'unsubscribed', category: 'newsletter', source: 'link' },
    ])
  })

  it('A multipart form with the scope all unsubscribes from every category, critical events excepted', async () => {
    const app = consentApp()
    await app.send('news')
    const form = new FormData()
    form.set('scope', 'all')
    expect((await post(app, linkOf(app), form)).status).toBe(200)
    expect(await outcomeOf(app, 'news')).toBe(SUPPRESSED)
    expect(await outcomeOf(app, 'order')).toBe(SUPPRESSED)
    expect(await outcomeOf(app, 'code')).toBe('sent')
  })

  it('A forged link and a link of another key are 404', async () => {
    const app = consentApp()
    await app.send('news')
    const link = linkOf(app)
    for (const forged of [`${link}x`, link.slice(0, -1), link.replace('/unsubscribe/k1', '/unsubscribe/k2')]) {
      expect((await post(app, forged)).status).toBe(404)
    }
    const without = consentApp({ rest: { links: { baseUrl: 'https://app.example', keys: [NEXT_KEY] } } })
    expect((await post(without, link)).status).toBe(404)
    expect(await app.sallyport.suppressions.find({ address: ADA })).toEqual([])
  })

  it('A link of a retired key still works, and suppresses under the retained key of addresses', async () => {
    const ids = countingIds()
    const before = consentApp({ rest: { ids } })
    await before.send('news')
    const link = linkOf(before)
    const keys = [NEXT_KEY, KEY]
    const rest = { links: { baseUrl: 'https://app.example', keys }, ids }
    const app = consentApp({ store: () => before.store, rest, consenting: { keys } })
    expect((await post(app, link)).status).toBe(200)
    expect(await outcomeOf(app, 'news')).toBe(SUPPRESSED)
  })

  it('A hundred links that are posted concurrently a hundred times each are recorded once', async () => {
    const app = consentApp()
    const links: string[] = []
    for (let at = 0; at < 100; at++) {
      await app.send('news', `u${at}@example.com`)
      links.push(linkOf(app))
    }
    const statuses = new Map<number, number>()
    await Promise.all(
      Array.from({ length: 10_000 }, async (_, at) => {
        const { status } = await post(app, links[at % 100] ?? '')
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }),
    )
    // More than `maxInFlight` at once are told to try again.
    expect([...statuses.keys()].every((status) => status === 200 || status === 503)).toBe(true)
    expect((statuses.get(200) ?? 0) >= 1_000).toBe(true)
    const { items } = await app.sallyport.suppressions.list({ limit: 500 })
    expect(items.length).toBe(100)
    expect(new Set(items.map(({ addressKey }) => addressKey)).size).toBe(100)
  })
})
