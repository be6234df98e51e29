import { EventType, type ResumeEntry, type RunFinishedInterruptOutcome, type ToolCall } from '@ag-ui/core'
import { RunAgentInputSchema, RunFinishedEventSchema } from '@ag-ui/core/schemas'
import { describe, expect, it } from 'vitest'
import { type AgUiApprovals, agUiApprovals } from '../../../../src/integrations/approvals/ag-ui.ts'
import type { AgentAnswerOptions } from '../../../../src/integrations/approvals/asking.ts'
import { ADA } from '../approving.ts'
import { type AgentHost, ARGS, agentHost, nameOf, OPTIONS } from './agent-host.ts'

const callOf = (id: string, args: object = ARGS, name = 'refund'): ToolCall => ({
  ...{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } },
})
const CALLS = [callOf('c1'), callOf('c2', { ...ARGS, orderId: 'B-2' })]

const approvalsOf = (host: AgentHost, more: Partial<AgentAnswerOptions> = {}): AgUiApprovals =>
  agUiApprovals(host.sallyport.approvals, { ...OPTIONS, ...more })

describe('interrupts of AG-UI', () => {
  it('A run ends with an interrupt for each question, and repeats none', async () => {
    const host = agentHost()
    const message: AgentAnswerOptions['message'] = ({ name, args }) => `${name} ${args.orderId}?`
    const { interrupts } = approvalsOf(host, { message })
    const outcome: RunFinishedInterruptOutcome = { type: 'interrupt', interrupts: await interrupts(CALLS) }
    const event = { type: EventType.RUN_FINISHED, threadId: 's1', runId: 'r1', outcome }
    expect(RunFinishedEventSchema.parse(event)).toMatchObject({ outcome })
    expect(outcome.interrupts).toMatchObject([
      { reason: 'tool_call', toolCallId: 'c1', message: 'refund A-1?' },
      { reason: 'tool_call', toolCallId: 'c2', message: 'refund B-2?' },
    ])
    expect(await approvalsOf(host, { message }).interrupts(CALLS)).toEqual(outcome.interrupts)
    const reordered = [callOf('c1', { amount: 900, orderId: 'A-1' })]
    expect(await approvalsOf(host, { message }).interrupts(reordered)).toEqual(outcome.interrupts.slice(0, 1))
    expect(await host.all()).toHaveLength(2)
    expect(await approvalsOf(host, { eventType: () => undefined }).interrupts(CALLS)).toEqual([])
  })

  // Umbraco.AI#211: a run was resumed with the answer to one of several interrupts.
  it('A run resumes with the outcomes of all its interrupts at once, and not with some', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host)
    const ids = (await approvals.interrupts(CALLS)).map(({ id }) => id)
    const [one, two] = (await host.open(2)).toSorted((a, b) => ids.indexOf(a.approvalId) - ids.indexOf(b.approvalId))
    await host.sallyport.approvals.answer({ ...nameOf(one), user: ADA, answer: 'accept' })
    expect(await approvalsOf(host, { waitMs: 0 }).resume(CALLS)).toBeUndefined()
    const resuming = approvals.resume(CALLS)
    await host.sallyport.approvals.answer({ ...nameOf(two), user: ADA, answer: 'decline', comment: 'no' })
    const resume: ResumeEntry[] = (await resuming) ?? []
    expect(resume).toMatchObject([
      { interruptId: ids[0], status: 'resolved', payload: { toolCallId: 'c1', approved: true, status: 'accepted' } },
      { interruptId: ids[1], status: 'resolved', payload: { approved: false, reason: 'A person declined it: no' } },
    ])
    const input = { threadId: 's1', runId: 'r2', state: {}, messages: [], tools: [], context: [], resume }
    expect(RunAgentInputSchema.parse(input)).toMatchObject({ resume })
  })

  // NousResearch/hermes-agent#76235: a time-out was told as a denial by the user.
  it('A question that expires or is withdrawn is cancelled, which is no decline', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host, { expiresInMs: 60_000 })
    await approvals.interrupts(CALLS)
    const [one] = await host.open(2)
    await host.sallyport.approvals.cancel(nameOf(one))
    host.clock.advance(60_000)
    const resume = (await approvals.resume(CALLS)) ?? []
    expect(resume.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
    expect(new Set(resume.map(({ payload }) => payload.status))).toEqual(new Set(['cancelled', 'expired']))
    expect(resume.map(({ payload }) => payload.approved)).toEqual([false, false])
  })

  // microsoft/agent-framework#7458 and #7594: an answer was consumed before the run could fail.
  it('A run that fails after it took the action resumes again, and with once it does not', async () => {
    const host = agentHost()
    const calls = CALLS.slice(0, 1)
    await approvalsOf(host).interrupts(calls)
    await host.answer(1)
    expect(await approvalsOf(host).resume(calls)).toMatchObject([{ payload: { approved: true, first: true } }])
    expect(await approvalsOf(host).resume(calls)).toMatchObject([{ payload: { approved: true, first: false } }])
    expect(await approvalsOf(host, { once: true }).resume(calls)).toMatchObject([{ payload: { approved: false } }])
  })

  // extra-org/extra#139: an approval of one action released another one.
  it('Calls that come back with other arguments or another tool are other questions', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host, { waitMs: 0 })
    await approvals.interrupts([callOf('c1')])
    await host.answer(1)
    expect(await approvals.resume([callOf('c1', { ...ARGS, amount: 9_000 })])).toBeUndefined()
    expect(await approvals.resume([callOf('c1', ARGS, 'erase')])).toBeUndefined()
    expect(await approvals.resume([callOf('c1')])).toMatchObject([{ payload: { approved: true } }])
  })

  it('An action whose time is over, or that another use has taken, is not approved', async () => {
    const host = agentHost()
    await approvalsOf(host).interrupts(CALLS)
    await host.answer(2)
    const [one] = await host.all()
    await host.sallyport.approvals.consume({
      ...nameOf(one),
      ...(one?.action && { action: one.action }),
      useId: 'other',
    })
    host.clock.advance(3_600_000)
    const reasons = (await approvalsOf(host).resume(CALLS))?.map(({ payload }) => [payload.approved, payload.reason])
    expect(reasons?.toSorted()).toEqual([
      [false, 'A person accepted, but it has been done already.'],
      [false, 'A person accepted, but the time to do it is over.'],
    ])
  })

  it('A fault of the store is thrown, and a tenant is passed on', async () => {
    const host = agentHost()
    await approvalsOf(host, { tenant: 'other' }).interrupts(CALLS)
    expect(await host.all()).toEqual([])
    expect((await host.sallyport.approvals.list({ tenant: 'other' })).items).toHaveLength(2)
    const broken = { ...host.client, consume: () => Promise.reject(new Error('no network')) }
    await approvalsOf(host).interrupts(CALLS)
    await host.answer(2)
    await expect(agUiApprovals(broken, OPTIONS).resume(CALLS)).rejects.toThrow('no network')
  })
})
