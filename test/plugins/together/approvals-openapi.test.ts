import { describe, expect, it } from 'vitest'
import type { OpenApiResponse } from '../../../src/openapi/index.ts'
import { APPROVAL_ACTIONS } from '../../../src/plugins/approvals/actions.ts'
import { type Fit, misfits } from '../../openapi/lint.ts'
import { document } from '../../openapi/posting.ts'
import { ADA, approving, REFUND } from '../approvals/approving.ts'

const PATH = '/api/agents/session/approval'
const ASK = {
  ...{ sessionId: 's1', runId: 'r1', approvalId: 'refund-1', eventType: 'refund.approval', message: 'Refund?' },
  ...{ action: REFUND, choices: ['full', 'half'] },
}
const OF = { sessionId: 's1' }
const ANSWER = { ...OF, user: ADA, answer: 'accept', content: { choice: 'full' }, comment: 'Fine' }
const USE = { ...OF, useId: 'u1', action: REFUND }

function responseOf(name: string, status: number): OpenApiResponse {
  const { path = '', method } = APPROVAL_ACTIONS.find((action) => action.name === name) ?? {}
  const operation = document.paths[path]?.[method === 'GET' ? 'get' : 'post']
  const found = operation?.responses[status]
  return found && 'content' in found ? found : expect.fail(`${name} documents no ${status}`)
}

function fitOf(name: string, status: number, value: object): Fit {
  const type = status === 200 ? 'application/json' : 'application/problem+json'
  return { schema: responseOf(name, status).content?.[type]?.schema ?? expect.fail(`no ${type}`), value }
}

describe('approvals in the OpenAPI document', () => {
  it('The schemas fit every answer of a real host, and its parts have no other field', async () => {
    const { ask } = approving()
    const answers: [string, { status: number; body: object }][] = [
      ['request_approval', await ask(PATH, 'asker', ASK)],
      ['get_approval', await ask(`${PATH}/refund-1?sessionId=s1`, 'asker')],
      ['answer_approval', await ask(`${PATH}/refund-1/answer`, 'manager', ANSWER)],
      ['consume_approval', await ask(`${PATH}/refund-1/consume`, 'asker', USE)],
      ['get_approval', await ask(`${PATH}/refund-1?sessionId=s1`, 'asker')],
      ['request_approval', await ask(PATH, 'asker', { ...ASK, approvalId: 'other' })],
      ['cancel_approval', await ask(`${PATH}/other/cancel`, 'asker', OF)],
      ['list_approvals', await ask('/api/agents/approvals?content=true', 'manager')],
    ]
    expect(answers.map(([name, { status }]) => `${name} ${status}`)).toEqual(answers.map(([name]) => `${name} 200`))
    expect(new Set(answers.map(([name]) => name)).size).toBe(APPROVAL_ACTIONS.length)
    const fits = answers.flatMap(([name, { body }]) => [fitOf(name, 200, body), fitOf(name, 200, { ...body, more: 1 })])
    const found = [...(await misfits(fits, 'known')).keys()]
    expect(found.sort((a, b) => a - b)).toEqual(fits.flatMap((_, at) => (at % 2 === 1 ? at : [])))
  })

  it('Every refusal is documented for its route', async () => {
    const { ask, clock } = approving()
    await ask(PATH, 'asker', ASK)
    await ask(PATH, 'asker', { ...ASK, approvalId: 'late', expiresInMs: 60_000 })
    const answer = `${PATH}/refund-1/answer`
    const consume = `${PATH}/refund-1/consume`
    const early = await ask(consume, 'asker', USE)
    clock.advance(60_000)
    const refusals: [string, string, { status: number; body: object }][] = [
      ['request_approval', 'approval_conflict', await ask(PATH, 'asker', { ...ASK, runId: 'r2' })],
      [
        'request_approval',
        'approval_link_missing',
        await ask(PATH, 'asker', { ...ASK, eventType: 'plain.approval', approvalId: 'x' }),
      ],
      ['request_approval', 'insufficient_scope', await ask(PATH, 'manager', ASK)],
      ['request_approval', 'validation_failed', await ask(PATH, 'asker', {})],
      ['get_approval', 'approval_not_found', await ask(`${PATH}/other?sessionId=s1`, 'asker')],
      ['get_approval', 'query_invalid', await ask(`${PATH}/refund-1`, 'asker')],
      ['get_approval', 'query_invalid', await ask(`${PATH}/refund-1?waitMs=x`, 'asker')],
      ['consume_approval', 'approval_not_accepted', early],
      ['answer_approval', 'approval_ended', await ask(`${PATH}/late/answer`, 'manager', ANSWER)],
      ['answer_approval', 'approval_conflict', await ask(answer, 'manager', { ...ANSWER, digest: 'f' })],
      ['answer_approval', 'validation_failed', await ask(answer, 'manager', { ...ANSWER, content: {} })],
      ['cancel_approval', 'approval_ended', await ask(`${PATH}/late/cancel`, 'asker', OF)],
    ]
    await ask(answer, 'manager', ANSWER)
    await ask(consume, 'asker', USE)
    refusals.push(
      [
        'answer_approval',
        'approval_answered',
        await ask(answer, 'manager', { ...ANSWER, content: { choice: 'half' } }),
      ],
      ['cancel_approval', 'approval_answered', await ask(`${PATH}/refund-1/cancel`, 'asker', OF)],
      ['consume_approval', 'approval_consumed', await ask(consume, 'asker', { ...USE, useId: 'u2' })],
      [
        'consume_approval',
        'approval_conflict',
        await ask(consume, 'asker', { ...USE, action: { ...REFUND, name: 'x' } }),
      ],
    )
    expect(refusals.map(([name, , { body }]) => `${name} ${Object(body).code}`)).toEqual(
      refusals.map(([name, code]) => `${name} ${code}`),
    )
    const fits = refusals.map(([name, , { status, body }]) => fitOf(name, status, body))
    expect(await misfits(fits, 'known')).toEqual(new Map())
  })
})
