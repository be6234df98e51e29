import { describe, expect, it } from 'vitest'
import { actionDigest } from '../../../src/plugins/approvals/action-digest.ts'
import { advanceUntil } from '../../support/advance-until.ts'
import { ADA, approving, BOB, HOUR_MS, NAME, REFUND, refusal } from './approving.ts'

describe('a request for approval', () => {
  it('It is stored with the messages to all approvers, which carry the question and a link', async () => {
    const { sallyport, request, a, statuses } = approving()
    expect(await request()).toEqual({
      ...{ approvalId: 'refund-1', sessionId: 's1', runId: 'r1', eventType: 'refund.approval', status: 'open' },
      ...{ requester: 'host', approvers: [ADA, BOB], required: 1, digest: await actionDigest(REFUND) },
      ...{ message: 'Refund 900 USD?', action: REFUND, answers: [], replayed: false },
      ...{ createdAt: '2027-01-15T12:00:00.000Z', expiresAt: '2027-01-22T12:00:00.000Z' },
    })
    expect(await statuses()).toEqual([`${ADA} queued`, `${BOB} queued`])
    await sallyport.worker.runDue()
    const link = /^Refund 900 USD\? https:\/\/shop\.test\/api\/outbound\/approval\/[\w.-]+$/
    expect(a.sent.map(({ content: { text } }) => text)).toEqual([
      expect.stringMatching(link),
      expect.stringMatching(link),
    ])
    expect(new Set(a.sent.map(({ content }) => content.text)).size).toBe(2)
  })

  it('Stored content, lists and reads show no live link', async () => {
    const { sallyport, request } = approving()
    await request()
    await sallyport.worker.runDue()
    const { items } = await sallyport.dispatches.list()
    const all = await Promise.all(
      items.map(({ dispatchId }) => sallyport.dispatches.get(dispatchId, { content: true })),
    )
    const shown = JSON.stringify([all, await sallyport.approvals.list({ content: true })])
    expect(shown).toContain('links.sallyport.invalid')
    expect(shown).not.toContain('shop.test')
  })

  it('The same id with the same action asks once; with another action, run, event or message it is refused', async () => {
    const { request, statuses } = approving()
    await request()
    const again = { ...REFUND, args: { amount: 900, orderId: 'A-1' } }
    expect(await request({ action: again, message: 'Please?' })).toMatchObject({
      replayed: true,
      message: 'Refund 900 USD?',
    })
    expect(await refusal(request({ action: { ...REFUND, name: 'delete' } }))).toBe('409 approval_conflict')
    expect(await refusal(request({ action: { ...REFUND, args: { amount: 901 } } }))).toBe('409 approval_conflict')
    expect(await refusal(request({ runId: 'r2' }))).toBe('409 approval_conflict')
    expect(await refusal(request({ eventType: 'plain.approval' }))).toBe('409 approval_conflict')
    expect(await refusal(request({ action: undefined }))).toBe('409 approval_conflict')
    expect(await request({ sessionId: 's2', action: { ...REFUND, name: 'delete' } })).toMatchObject({ replayed: false })
    expect(await statuses()).toHaveLength(4)
  })

  it('Concurrent requests of one id ask once', async () => {
    const { request, statuses } = approving()
    const all = await Promise.all(Array.from({ length: 10 }, () => request()))
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(await statuses()).toHaveLength(2)
  })

  it('Without an id, each request is a new approval', async () => {
    const { request } = approving()
    const [one, other] = [await request({ approvalId: undefined }), await request({ approvalId: undefined })]
    expect([one.replayed, other.replayed, one.approvalId === other.approvalId]).toEqual([false, false, false])
  })

  it('It asks only the recipients that it names, if the event allows each of them', async () => {
    const { request, statuses } = approving()
    expect(await request({ recipients: [BOB, BOB] })).toMatchObject({ approvers: [BOB] })
    expect(await statuses()).toEqual([`${BOB} queued`])
    const foreign = request({ approvalId: 'x', recipients: [ADA, 'eve@example.com'] })
    expect(await refusal(foreign)).toBe('403 insufficient_scope /recipients/1 not_allowed')
    expect(await statuses()).toHaveLength(1)
  })

  it('Choices are one required field of the schema', async () => {
    const { request } = approving()
    expect(await request({ choices: ['full', 'half'] })).toMatchObject({
      schema: {
        type: 'object',
        properties: { choice: { type: 'string', enum: ['full', 'half'] } },
        required: ['choice'],
      },
    })
  })

  it('Reminders are sent when they are due, while nobody has answered', async () => {
    const reminders = [{ afterMs: HOUR_MS }, { afterMs: 2 * HOUR_MS, approvers: ['boss@example.com'] }]
    const { sallyport, request, answer, clock, a, statuses } = approving({ event: { reminders } })
    expect(await request({ recipients: [ADA] })).toMatchObject({ approvers: [ADA, 'boss@example.com'] })
    await sallyport.worker.runDue()
    clock.advance(HOUR_MS)
    await sallyport.worker.runDue()
    expect(a.sent.map(({ to }) => to)).toEqual([ADA, ADA])
    await answer()
    clock.advance(HOUR_MS)
    await sallyport.worker.runDue()
    expect(a.sent).toHaveLength(2)
    expect(await statuses()).toEqual([`${ADA} sent`, `${ADA} sent`, 'boss@example.com cancelled'])
  })

  it('A message that was not sent in time expires with the approval', async () => {
    const { sallyport, request, clock, a } = approving()
    await request({ expiresInMs: 60_000 })
    clock.advance(60_001)
    await sallyport.worker.runDue()
    expect(a.sent).toEqual([])
  })

  it('Nothing else dispatches its event', async () => {
    const { sallyport, ask } = approving()
    const event = { eventType: 'refund.approval', recipient: ADA, eventData: { approval: { message: 'Mine' } } }
    expect(await sallyport.dispatch(event)).toMatchObject({ status: 403 })
    expect(await ask('/api/outbound/dispatch', 'asker', event)).toMatchObject({ status: 403 })
  })
})

describe('requests that are refused', () => {
  const LONG = 'x'.repeat(32_768)
  const SCHEMA = { type: 'object', properties: { note: { type: 'string' } } }
  const nested = { type: 'object', properties: { a: { type: 'object', properties: {} } } }
  const many = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, { type: 'boolean' }])),
  }

  it.each<[string, object, RegExp]>([
    ['an event without approvals', { eventType: 'refund.answered' }, /^422 validation_failed \/eventType not_allowed$/],
    ['an inherited name', { eventType: 'constructor' }, /^422 validation_failed \/eventType not_allowed$/],
    ['no message', { message: '' }, /^422 validation_failed \/message too_short$/],
    ['4,001 characters', { message: 'x'.repeat(4_001) }, /^422 validation_failed \/message too_long$/],
    ['an action over 32 KiB', { action: { name: 'x', args: { LONG } } }, /^422 validation_failed \/action too_long$/],
    ['an action that is a text', { action: 'refund' }, /^422 validation_failed \/action type$/],
    ['arguments in a list', { action: { name: 'x', args: [] } }, /^422 validation_failed \/action\/args type$/],
    ['a schema that is not flat', { schema: nested }, /^422 validation_failed \/schema\/properties\/a/],
    ['100 fields', { schema: many }, /^422 validation_failed \/schema\/properties too_many/],
    ['equal choices', { choices: ['a', 'a'] }, /^422 validation_failed \/choices/],
    ['no choice', { choices: [] }, /^422 validation_failed \/choices/],
    ['choices and a schema', { choices: ['a'], schema: SCHEMA }, /^422 validation_failed \/choices conflict$/],
    ['an expiry in the past', { expiresInMs: -1 }, /^422 validation_failed \/expiresInMs out_of_range$/],
    [
      'an expiry after 7 days',
      { expiresInMs: 7 * 24 * HOUR_MS + 1 },
      /^422 validation_failed \/expiresInMs out_of_range$/,
    ],
    ['an id with a space', { approvalId: 'a b' }, /^422 validation_failed \/approvalId format$/],
    ['an unknown member', { expiresIn: 1 }, /^422 validation_failed \/expiresIn not_allowed$/],
    ['a template without a link', { eventType: 'plain.approval' }, /^422 approval_link_missing$/],
    ['an approver without an address', { recipients: ['nobody'] }, /^422 approval_unreachable$/],
  ])('%s', async (_, more, problem) => {
    const { request, statuses, sallyport } = approving({ event: { approvers: () => [ADA, 'nobody'] } })
    expect(await refusal(request(more))).toMatch(problem)
    expect(await statuses()).toEqual([])
    expect((await sallyport.approvals.list()).items).toEqual([])
  })

  it('A quorum larger than the approvers, and one with a schema', async () => {
    const { request } = approving({ event: { required: 3 } })
    expect(await refusal(request())).toBe('422 validation_failed /recipients out_of_range')
    expect(await refusal(request({ schema: SCHEMA as never }))).toBe('422 validation_failed /schema not_allowed')
    expect(await refusal(request({ choices: ['a'] }))).toBe('422 validation_failed /choices not_allowed')
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', ADA],
    ['no one', []],
    ['a number', [7]],
    ['an empty text', ['']],
    ['51 recipients', Array.from({ length: 51 }, (_, at) => `u${at}@example.com`)],
  ])('approvers() that returns %s is said in one sentence', async (_, given) => {
    const { request, statuses } = approving({ event: { approvers: () => given as never } })
    await expect(request()).rejects.toMatchObject({
      message: expect.stringMatching(
        /^approvers\(\) of the event refund\.approval returned .*; return a list of 1 to 50/,
      ),
    })
    expect(await statuses()).toEqual([])
  })

  it('approvers() that throws or hangs is a fault, and nothing is stored', async () => {
    const thrown = new Error('down')
    const failing = approving({ event: { approvers: () => Promise.reject(thrown) } })
    await expect(failing.request()).rejects.toBe(thrown)
    const hanging = approving({ event: { approvers: () => new Promise(() => {}) } })
    const { result } = await advanceUntil(
      hanging.request().catch(({ name }) => name),
      hanging.clock,
    )
    expect(result).toBe('TimeoutError')
  })
})

describe('a sandbox', () => {
  it('Approvals are stored and answered, and nothing is sent', async () => {
    const { sallyport, request, answer, a } = approving({ sandbox: true })
    await request()
    await sallyport.worker.runDue()
    expect(a.sent).toEqual([])
    expect(await answer()).toMatchObject({ status: 'accepted' })
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'accepted' })
  })
})
