import {
  Agent,
  type AgentOutputItem,
  type Model,
  type ModelResponse,
  Runner,
  RunState,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents'
import { beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { AgentApprovalOptions } from '../../../../src/integrations/approvals/asking.ts'
import {
  type OpenAiAgentsApprovals,
  openAiAgentsApprovals,
} from '../../../../src/integrations/approvals/openai-agents.ts'
import { ADA } from '../approving.ts'
import { type AgentHost, ARGS, agentHost, nameOf, OPTIONS, refunds } from './agent-host.ts'

beforeAll(() => setTracingDisabled(true))

/** A model that gives these outputs, one after the other. */
function modelOf(...outputs: readonly AgentOutputItem[][]): Model & { readonly seen: string[] } {
  const seen: string[] = []
  let at = 0
  return {
    seen,
    async getResponse({ input }): Promise<ModelResponse> {
      seen.push(JSON.stringify(input))
      const output = outputs[at++]
      if (!output) throw new Error('model down')
      return { usage: new Usage(), output }
    },
    // biome-ignore lint/correctness/useYield: no test streams.
    async *getStreamedResponse() {
      throw new Error('no stream')
    },
  }
}

const calling = (callId: string, args: object = ARGS, name = 'refund'): AgentOutputItem => ({
  ...{ type: 'function_call', callId, name, status: 'completed', arguments: JSON.stringify(args) },
})
const END: AgentOutputItem[] = [
  { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Done.' }] },
]

const approvalsOf = (host: AgentHost, more: Partial<AgentApprovalOptions> = {}): OpenAiAgentsApprovals =>
  openAiAgentsApprovals(host.sallyport.approvals, { ...OPTIONS, ...more })

/** An agent with a tool that needs approval, and its calls. */
function agentOf(approvals: OpenAiAgentsApprovals, ...outputs: readonly AgentOutputItem[][]) {
  const { done, run } = refunds()
  const parameters = z.object({ orderId: z.string(), amount: z.number() })
  const shared = { description: 'x', parameters, needsApproval: true, inputGuardrails: [approvals.guardrail] }
  const tools = [
    tool({ ...shared, name: 'refund', execute: run }),
    tool({ ...shared, name: 'erase', execute: async (args) => run({ erase: args }) }),
  ]
  const model = modelOf(...outputs)
  return { done, model, agent: new Agent({ name: 'Support', model, tools }), runner: new Runner() }
}

describe('interruptions of the OpenAI Agents SDK', () => {
  it('All are asked before any is awaited, and each one is approved or rejected on the state', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host)
    const calls = [calling('c1'), calling('c2', { ...ARGS, orderId: 'B-2' })]
    const { agent, runner, done, model } = agentOf(approvals, calls, END)
    const result = await runner.run(agent, 'Refund.')
    expect(result.interruptions).toHaveLength(2)
    const deciding = approvals.decide(result)
    const views = await host.open(2)
    for (const view of views) {
      const answer = view.action?.args.orderId === 'A-1' ? 'accept' : 'decline'
      const comment = answer === 'decline' ? { comment: 'too late' } : {}
      await host.sallyport.approvals.answer({ ...nameOf(view), user: ADA, answer, ...comment })
    }
    expect(await deciding).toMatchObject([
      { toolCallId: 'c1', approved: true, status: 'accepted' },
      { toolCallId: 'c2', approved: false, status: 'declined' },
    ])
    expect((await runner.run(agent, result.state)).finalOutput).toBe('Done.')
    expect(done).toEqual([ARGS])
    expect(model.seen[1]).toContain('A person declined it: too late')
  })

  // NousResearch/hermes-agent#76235: a time-out was told as a denial by the user.
  it('A question that expires is rejected as what it is, never as a decline', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host, { expiresInMs: 60_000 })
    const { agent, runner, done, model } = agentOf(approvals, [calling('c1')], END)
    const result = await runner.run(agent, 'Refund.')
    const deciding = approvals.decide(result)
    await host.open(1)
    host.clock.advance(60_000)
    await deciding
    await runner.run(agent, result.state)
    expect(done).toEqual([])
    expect(model.seen[1]).toContain('Nobody answered in time, and nobody declined.')
  })

  // curie#766: an answer to an agent that had ended was lost.
  it('A question that is still open stays an interruption, and its answer is kept for a stored state', async () => {
    const host = agentHost()
    const first = agentOf(approvalsOf(host, { waitMs: 0 }), [calling('c1')])
    const result = await first.runner.run(first.agent, 'Refund.')
    expect(await approvalsOf(host, { waitMs: 0 }).decide(result)).toMatchObject([{ status: 'open', approved: false }])
    const stored = result.state.toString()
    expect((await first.runner.run(first.agent, result.state)).interruptions).toHaveLength(1)
    await host.answer(1)
    const approvals = approvalsOf(host)
    const later = agentOf(approvals, END)
    const state = await RunState.fromString(later.agent, stored)
    await approvals.decide({ state, interruptions: state.getInterruptions() })
    await later.runner.run(later.agent, state)
    expect(later.done).toEqual([ARGS])
    expect(await host.all()).toHaveLength(1)
  })

  // microsoft/agent-framework#7458 and #7594: an answer was consumed before the run could fail.
  it('A run that ends after it took the action, before the tool ran, continues with the same answer', async () => {
    const host = agentHost()
    const first = agentOf(approvalsOf(host), [calling('c1')])
    const result = await first.runner.run(first.agent, 'Refund.')
    const stored = result.state.toString()
    await Promise.all([approvalsOf(host).decide(result), host.answer(1)])
    for (const [once, done] of [[false, [ARGS]] as const, [true, []] as const]) {
      const approvals = approvalsOf(host, { once })
      const later = agentOf(approvals, END)
      const state = await RunState.fromString(later.agent, stored)
      await approvals.decide({ state, interruptions: state.getInterruptions() })
      await later.runner.run(later.agent, state)
      expect(later.done).toEqual(done)
    }
  })

  it('With once, an action goes to the first run alone', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host, { once: true })
    const { agent, runner, done } = agentOf(approvals, [calling('c1')], END)
    const result = await runner.run(agent, 'Refund.')
    await Promise.all([approvals.decide(result), host.answer(1)])
    await runner.run(agent, result.state)
    expect(done).toEqual([ARGS])
  })

  // openai-agents-python#4257: a decision was bound to the id of the call alone, and a replay ran the tool twice.
  it('An id that comes again releases neither other arguments, nor another tool, nor the same call twice', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host)
    const again = [calling('c1', { ...ARGS, amount: 9_000 })]
    const { agent, runner, done, model } = agentOf(approvals, [calling('c1')], again, [calling('c1')], END)
    const result = await runner.run(agent, 'Refund.')
    await Promise.all([approvals.decide(result), host.answer(1)])
    const running = runner.run(agent, result.state)
    const [asked] = await host.open(1)
    expect(asked?.action?.args).toEqual({ ...ARGS, amount: 9_000 })
    await host.answer(1, 'decline')
    await running
    expect(done).toEqual([ARGS])
    expect(model.seen[3]).toContain('This call has been done before.')
    const other = agentOf(approvals, [calling('c1', ARGS, 'erase')])
    const interrupted = await other.runner.run(other.agent, 'Erase.')
    await Promise.all([approvals.decide(interrupted), host.answer(1, 'decline')])
    expect(other.done).toEqual([])
  })

  it('Calls of shells and of hosted MCP servers are shown as they are', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host, { waitMs: 0 })
    const hosted = { id: 'm1', name: 'send', arguments: '{"to":"ada"}', server_label: 'mail' }
    const items = [
      { rawItem: { type: 'shell_call', callId: 's1', action: { commands: ['ls'] } } },
      { rawItem: { type: 'hosted_tool_call', id: 'm1', name: 'mcp_approval_request', providerData: hosted } },
      { rawItem: { type: 'function_call', callId: 'f1', name: 'odd', arguments: 'no json' } },
    ]
    await approvals.decide({ interruptions: items, state: { approve() {}, reject() {} } })
    const actions = (await host.all()).map(({ action }) => action)
    expect(actions).toEqual(
      expect.arrayContaining([
        { name: 'shell_call', args: { action: { commands: ['ls'] } } },
        { name: 'mail/send', args: { to: 'ada' } },
        { name: 'odd', args: { input: 'no json' } },
      ]),
    )
  })
})
