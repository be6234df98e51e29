import { describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { type ConsoleAccess, type ConsoleChange, createConsole } from '../../../src/console/index.ts'
import { jsonOf } from '../../openapi/posting.ts'
import { ADA, approving, BOB, NAME, REFUND } from './approving.ts'

const ANSWER = 'agents/session/approval/refund-1/answer'

function consoleOf(access: ConsoleAccess) {
  const host = approving()
  const changes: ConsoleChange[] = []
  const handle = toFetch(
    createConsole(host.sallyport, { access: () => access, onChange: (change) => void changes.push(change) }),
  )
  const read = async (path: string) => {
    const answer = await handle(new Request(`http://127.0.0.1/api/${path}`))
    return { status: answer.status, body: Object(await jsonOf(answer)) }
  }
  const answer = async (body: object) => {
    const headers = {
      ...{ 'content-type': 'application/json', 'x-sallyport-console': '1', 'sec-fetch-site': 'same-origin' },
    }
    const init = { method: 'POST', headers, body: JSON.stringify({ sessionId: 's1', answer: 'accept', ...body }) }
    const given = await handle(new Request(`http://127.0.0.1/api/${ANSWER}`, init))
    return { status: given.status, body: Object(await jsonOf(given)) }
  }
  return { ...host, changes, read, answer }
}

describe('approvals in the console', () => {
  it('A user who may operate answers as themselves, once, and onChange is told', async () => {
    const { request, answer, changes, sallyport } = consoleOf({ access: 'operate', user: ADA })
    await request()
    expect(await answer({ comment: 'Fine' })).toMatchObject({ status: 200, body: { status: 'accepted' } })
    expect(await answer({})).toMatchObject({ status: 200, body: { replayed: true } })
    expect(await sallyport.approvals.get(NAME)).toMatchObject({
      answers: [{ user: ADA, answer: 'accept', proof: 'console', comment: 'Fine' }],
    })
    expect(changes).toEqual([
      {
        action: 'answer_approval',
        user: ADA,
        tenant: 'default',
        count: 1,
        sessionId: 's1',
        answer: 'accept',
        approvalId: 'refund-1',
      },
    ])
  })

  it('Nobody answers for another user, whatever the body says', async () => {
    const { request, answer, sallyport } = consoleOf({ access: 'operate', user: 'eve@example.com' })
    await request()
    for (const body of [{}, { user: BOB }])
      expect(await answer(body)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    const own = consoleOf({ access: 'operate', user: ADA })
    await own.request()
    await own.answer({ user: BOB })
    expect(await own.sallyport.approvals.get(NAME)).toMatchObject({ answers: [{ user: ADA }] })
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open' })
  })

  it.each<[string, ConsoleAccess, RegExp]>([
    ['whom access does not name', { access: 'operate' }, /does not know who you are/],
    ['who may only read', { access: 'read', user: ADA }, /change nothing/],
  ])('A user %s answers nothing', async (_, access, detail) => {
    const { request, answer } = consoleOf(access)
    await request()
    const refused = await answer({})
    expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringMatching(detail) } })
  })

  it('One approval is read with its content; of another tenant, nothing', async () => {
    const path = 'agents/approvals?sessionId=s1&approvalId=refund-1&content=true'
    const own = consoleOf({ access: 'read' })
    await own.request()
    await own.request({ approvalId: 'refund-2' })
    expect(await own.read(path)).toMatchObject({ body: { items: [{ approvalId: 'refund-1', action: REFUND }] } })
    expect(await own.read('agents/approvals?approvalId=refund-1')).toMatchObject({
      ...{ status: 422, body: { code: 'query_invalid', errors: [{ pointer: '/approvalId' }] } },
    })
    const other = consoleOf({ access: 'read', tenant: 'other' })
    await other.request()
    expect(await other.read(path)).toMatchObject({ body: { items: [] } })
  })

  it('Those that are open come first in a list, and those of a session in the order of time', async () => {
    const { request, clock, sallyport } = consoleOf({ access: 'read', user: ADA })
    await request()
    clock.advance(1)
    await request({ approvalId: 'refund-2' })
    await sallyport.approvals.answer({ ...NAME, approvalId: 'refund-2', user: ADA, answer: 'decline' })
    clock.advance(1)
    await request({ approvalId: 'refund-3' })
    const idsOf = async (options: object) =>
      (await sallyport.approvals.list(options)).items.map(({ approvalId }) => approvalId)
    expect(await idsOf({})).toEqual(['refund-3', 'refund-1', 'refund-2'])
    expect(await idsOf({ status: 'ended' })).toEqual(['refund-2'])
    expect(await idsOf({ sessionId: 's1' })).toEqual(['refund-3', 'refund-2', 'refund-1'])
  })
})
