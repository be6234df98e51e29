import { describe, expect, it } from 'vitest'
import type { SignedIn } from '../../../src/plugins/approvals/check-options.ts'
import { ADA, type ApprovalHost, approving, BOB, NAME } from './approving.ts'

/** A host whose page asks who is signed in, and the token of a message to {@link ADA}. */
async function hosting(access: (request: Request) => unknown): Promise<ApprovalHost & { readonly token: string }> {
  const host = approving({
    event: { proof: 'session' },
    options: { access: access as (request: never) => SignedIn | undefined },
  })
  await host.request()
  await host.sallyport.worker.runDue()
  const text = String(host.a.sent.find(({ to }) => to === ADA)?.content.text)
  const [, token = ''] = /approval\/(\S+)$/.exec(text) ?? []
  return { ...host, token }
}

const byCookie = ({ headers }: Request) => ({ user: headers.get('cookie')?.replace('user=', '') })
const cookie = (user: string) => ({ headers: { cookie: `user=${user}` } })
const form = (user: string, more: object = {}): RequestInit => ({
  method: 'POST',
  headers: { cookie: `user=${user}`, ...more },
  body: new URLSearchParams({ answer: 'accept' }),
})

describe('the page with the proof of a session', () => {
  it('Without a session, a link shows nothing of the question and answers nothing', async () => {
    const { get, post, token, sallyport } = await hosting(byCookie)
    for (const page of [await get(token), await post(token, { answer: 'accept' })]) {
      expect(page.status).toBe(403)
      const html = await page.text()
      expect(html).toContain('Sign in to the application')
      expect(html).not.toMatch(/900|<form/)
    }
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open', answers: [] })
  })

  it('Its user answers, also with the link of another approver', async () => {
    const { get, token, sallyport } = await hosting(byCookie)
    expect(await (await get(token, cookie(BOB))).text()).toContain('Refund 900 USD?')
    expect((await get(token, form(BOB))).status).toBe(200)
    expect(await sallyport.approvals.get(NAME)).toMatchObject({
      ...{ status: 'accepted', answers: [{ user: BOB, proof: 'session' }] },
    })
  })

  it('A user who is no approver is told who is signed in, and answers nothing', async () => {
    const { get, token, sallyport } = await hosting(byCookie)
    for (const init of [cookie('eve@example.com'), form('eve@example.com')]) {
      const page = await get(token, init)
      expect(page.status).toBe(403)
      const html = await page.text()
      expect(html).toMatch(/eve@example\.com.*may not answer/)
      expect(html).not.toContain('900')
    }
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open' })
  })

  it('A page of another site cannot answer in the name of the user', async () => {
    const { get, token, sallyport } = await hosting(byCookie)
    for (const site of ['cross-site', 'same-site'])
      expect((await get(token, form(ADA, { 'sec-fetch-site': site }))).status).toBe(403)
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open' })
    expect((await get(token, form(ADA, { 'sec-fetch-site': 'same-origin' }))).status).toBe(200)
  })

  it('A user of another tenant is not signed in', async () => {
    const { get, token } = await hosting(() => ({ user: ADA, tenant: 'other' }))
    expect((await get(token)).status).toBe(403)
    const own = await hosting(() => ({ access: 'operate', user: ADA, tenant: 'default' }))
    expect((await own.get(own.token)).status).toBe(200)
  })

  it.each<[string, () => unknown, boolean]>([
    ['throws', () => Promise.reject(new Error('down')), true],
    ['gives a user that is no text', () => ({ user: 7 }), true],
    ['gives a level of the console alone', () => 'operate', false],
    ['gives nothing', () => undefined, false],
    ['gives an empty user', () => ({ user: '' }), false],
  ])('Nobody is signed in if access %s', async (_, access, isFault) => {
    const { get, token, logger } = await hosting(access)
    expect((await get(token)).status).toBe(403)
    expect(logger.lines.filter(({ event }) => event === 'hook.threw')).toHaveLength(isFault ? 1 : 0)
  })

  it('A host without access does not start', () => {
    expect(() => approving({ event: { proof: 'session' } })).toThrow(
      /events\['refund\.approval'\]\.proof": is session: give approvals the option access/,
    )
  })

  it('An event that the options name no more has the stricter proof', async () => {
    const { token, sallyport, clock } = await hosting(byCookie)
    const later = approving({
      clock,
      store: sallyport.store,
      options: { events: {}, access: byCookie as (request: never) => SignedIn },
    })
    expect((await later.get(token)).status).toBe(403)
    expect((await later.get(token, cookie(ADA))).status).toBe(200)
  })
})
