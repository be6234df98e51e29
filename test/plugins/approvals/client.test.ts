import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { type ApprovalClient, createApprovalClient } from '../../../src/client/approvals.ts'
import type { ClientOptions } from '../../../src/client/caller.ts'
import { createReadClient } from '../../../src/client/read.ts'
import { ADA, approving, NAME, REFUND } from './approving.ts'

const ASK = { ...NAME, runId: 'r1', eventType: 'refund.approval', message: 'Refund 900 USD?', action: REFUND }

function connected() {
  const host = approving()
  const handle = toFetch(host.sallyport)
  const asked: string[] = []
  const options = (token: string): ClientOptions => ({
    ...{ baseUrl: 'http://shop.test', token, retries: 0, timeoutMs: 4_000 },
    async fetch(url, init) {
      asked.push(new URL(url).search)
      return handle(new Request(url, init))
    },
  })
  const client = (token: string): ApprovalClient => createApprovalClient(options(token))
  return { ...host, asked, client, read: createReadClient(options('manager')) }
}

describe('a client of approvals', () => {
  it('It asks, answers, waits and takes the action', async () => {
    const { client, read } = connected()
    const [agent, people] = [client('asker'), client('manager')]
    expect(await agent.request(ASK)).toMatchObject({ status: 'open', replayed: false })
    expect(await agent.wait({ ...NAME, waitMs: 0 })).toMatchObject({ status: 'open' })
    expect(await people.answer({ ...NAME, user: ADA, answer: 'accept' })).toMatchObject({ status: 'accepted' })
    expect(await agent.wait(NAME)).toMatchObject({ status: 'accepted', answers: [{ user: ADA }] })
    expect(await agent.consume({ ...NAME, action: REFUND, useId: 'u1' })).toEqual({ consumed: true, first: true })
    expect((await read.approvals.list({ status: 'ended', content: true })).items).toMatchObject([{ action: REFUND }])
    await agent.request({ ...ASK, approvalId: 'other' })
    expect(await agent.cancel({ ...NAME, approvalId: 'other' })).toMatchObject({ status: 'cancelled' })
  })

  it('A wait is several requests, none longer than half of timeoutMs', async () => {
    const { client, clock, asked, answer } = connected()
    const agent = client('asker')
    await agent.request(ASK)
    asked.length = 0
    let isOver = false
    const waiting = agent.wait(NAME).finally(() => {
      isOver = true
    })
    while (asked.length < 3) {
      await setImmediate()
      clock.advance(100)
    }
    await answer()
    while (!isOver) await setImmediate()
    expect(await waiting).toMatchObject({ status: 'accepted' })
    expect(new Set(asked)).toEqual(new Set(['?sessionId=s1&waitMs=2000']))
  })

  it('Its errors are those of the endpoints, and of wrong options', async () => {
    const { client } = connected()
    const agent = client('asker')
    await expect(agent.wait(NAME)).rejects.toMatchObject({ code: 'approval_not_found', status: 404 })
    await expect(agent.consume({ ...NAME, useId: 'u1' })).rejects.toMatchObject({ code: 'approval_not_found' })
    await expect(agent.wait({ ...NAME, waitMs: -1 })).rejects.toMatchObject({ code: 'option_invalid' })
    await expect(agent.request(ASK, { signal: 5 as never })).rejects.toMatchObject({ code: 'option_invalid' })
    await agent.request(ASK)
    await expect(agent.answer({ ...NAME, user: ADA, answer: 'accept' })).rejects.toMatchObject({
      code: 'insufficient_scope',
    })
  })

  it('An abort ends a wait', async () => {
    const { client } = connected()
    const agent = client('asker')
    await agent.request(ASK)
    const stop = new AbortController()
    const waiting = agent.wait({ ...NAME, signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})
