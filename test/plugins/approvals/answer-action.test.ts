import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { ADA, type ApprovalHost, approving, BOB, NAME } from './approving.ts'

/** A host with an approval whose messages are sent, and the token in the message of each approver. */
async function linked(
  hosting: Parameters<typeof approving>[0] = {},
  more: object = {},
): Promise<ApprovalHost & { tokenOf(user: string): string }> {
  const host = approving(hosting)
  await host.request(more)
  await host.sallyport.worker.runDue()
  const tokenOf = (user: string): string => {
    const text = String(host.a.sent.find(({ to }) => to === user)?.content.text)
    return /approval\/(\S+)$/.exec(text)?.[1] ?? expect.fail('no link was sent')
  }
  return { ...host, tokenOf }
}

describe('the page of an approver', () => {
  it('GET and HEAD show the question and decide nothing, however often', async () => {
    const { sallyport, get, tokenOf } = await linked()
    for (const method of ['GET', 'HEAD', 'GET']) {
      const answer = await get(tokenOf(ADA), { method })
      expect(answer.status).toBe(200)
      const html = await answer.text()
      if (method === 'GET') expect(html).toContain('Refund 900 USD?')
    }
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open', answers: [] })
  })

  it('Its headers keep it out of caches, frames and referrers, and forbid scripts', async () => {
    const { get, tokenOf } = await linked()
    const { headers } = await get(tokenOf(ADA))
    expect(Object.fromEntries(headers)).toMatchObject({
      ...{ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' },
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-\S+'; .*frame-ancestors 'none'$/,
      ),
      'content-type': 'text/html; charset=utf-8',
    })
  })

  it('Its form answers, once, for the approver whom the message was sent to', async () => {
    const { sallyport, get, post, tokenOf } = await linked()
    const answered = await post(tokenOf(BOB), { answer: 'decline', comment: 'Too much' })
    expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining('role="status"')])
    expect(await sallyport.approvals.get(NAME)).toMatchObject({
      ...{ status: 'declined', answers: [{ user: BOB, answer: 'decline', proof: 'link', comment: 'Too much' }] },
    })
    expect((await post(tokenOf(BOB), { answer: 'decline', comment: 'Too much' })).status).toBe(200)
    const late = await post(tokenOf(ADA), { answer: 'accept' })
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('role="alert"')])
    expect(await (await get(tokenOf(ADA))).text()).not.toContain('<form')
  })

  it('Fields of the schema are read; a form with faults is shown again with what was typed', async () => {
    const { sallyport, post, tokenOf } = await linked({}, { choices: ['full', 'half'] })
    const again = await post(tokenOf(ADA), { answer: 'accept', comment: 'typed before' })
    expect([again.status, await again.text()]).toEqual([422, expect.stringContaining('typed before')])
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open' })
    expect((await post(tokenOf(ADA), { answer: 'accept', 'content.choice': 'half' })).status).toBe(200)
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ answers: [{ content: { choice: 'half' } }] })
  })

  it('An expired, cancelled or pruned approval shows its end, and takes no answer', async () => {
    const { sallyport, get, post, tokenOf, clock } = await linked({}, { expiresInMs: 60_000 })
    clock.advance(60_000)
    expect((await post(tokenOf(ADA), { answer: 'accept' })).status).toBe(409)
    expect((await get(tokenOf(ADA))).status).toBe(200)
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'expired', answers: [] })
    clock.advance(86_400_000)
    await sallyport.dispatches.prune({ olderThan: 3_600_000 })
    expect(await sallyport.approvals.get(NAME)).toBeUndefined()
    expect((await get(tokenOf(ADA))).status).toBe(404)
  })

  it('A forged, foreign or cut link is refused', async () => {
    const { sallyport, get, post, tokenOf } = await linked()
    const token = tokenOf(ADA)
    const other = await linked({
      links: { baseUrl: 'https://shop.test', keys: [{ kid: 'k1', key: new Uint8Array(32).fill(8) }] },
    })
    const last = token.at(-1) === 'A' ? 'B' : 'A'
    for (const wrong of [other.tokenOf(ADA), token.slice(0, -1), token.slice(0, -1) + last, 'x', '..', `${token}x`])
      for (const answer of [await get(wrong), await post(wrong, { answer: 'accept' })]) expect(answer.status).toBe(404)
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open' })
  })

  it('Another body than a form answers nothing', async () => {
    const { sallyport, get, tokenOf } = await linked()
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"answer":"accept"}' }
    expect((await get(tokenOf(ADA), json)).status).not.toBe(200)
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open' })
  })

  it('While the store is down, the page keeps what was typed, and says to try again', async () => {
    const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
    const memory = memoryStore({ clock })
    let isDown = false
    const commitUnit: typeof memory.commitUnit = (unit) =>
      isDown ? Promise.reject(new Error('down')) : memory.commitUnit(unit)
    const { post, tokenOf, logger } = await linked({ clock, store: { ...memory, commitUnit } })
    isDown = true
    const failed = await post(tokenOf(ADA), { answer: 'accept', comment: 'typed before' })
    expect([failed.status, failed.headers.get('retry-after'), await failed.text()]).toEqual([
      ...[503, '1', expect.stringContaining('typed before')],
    ])
    expect(JSON.stringify(logger.lines)).not.toMatch(/typed before|ada@/)
    isDown = false
    expect((await post(tokenOf(ADA), { answer: 'accept', comment: 'typed before' })).status).toBe(200)
  })

  it('A message of another event has no such link, and a dispatch that no request stored sends none', async () => {
    const { sallyport, a } = await linked()
    a.sent.length = 0
    expect(await sallyport.dispatch({ eventType: 'refund.answered', recipient: ADA, eventData: {} })).toMatchObject({
      ok: true,
    })
    await sallyport.worker.runDue()
    expect(a.sent).toMatchObject([{ links: {} }])
  })
})
