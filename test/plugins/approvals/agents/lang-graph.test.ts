import { Annotation, Command, END, interrupt, MemorySaver, Send, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { AgentToolCall } from '../../../../src/integrations/approvals/asking.ts'
import {
  type LangGraphApprovalOptions,
  type LangGraphApprovals,
  langGraphApprovals,
} from '../../../../src/integrations/approvals/lang-graph.ts'
import { ADA } from '../approving.ts'
import { type AgentHost, ARGS, agentHost, nameOf, OPTIONS, refunds } from './agent-host.ts'

const State = Annotation.Root({
  calls: Annotation<readonly AgentToolCall[]>(),
  results: Annotation<readonly string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
})

const CALL: AgentToolCall = { id: 'c1', name: 'refund', args: ARGS }
const IN_THREAD = { configurable: { thread_id: 't1' } }

const approvalsOf = (host: AgentHost, more: Partial<LangGraphApprovalOptions> = {}): LangGraphApprovals =>
  langGraphApprovals(host.sallyport.approvals, { ...OPTIONS, runId: 't1', interrupt, ...more })

/** A graph whose node asks about one call, or, with `Send`, a task for each of several. */
function graphOf(
  { ask }: LangGraphApprovals,
  checkpointer = new MemorySaver(),
  work: (args: unknown) => Promise<string> = refunds().run,
) {
  return new StateGraph(State)
    .addNode('act', async ({ calls: [call = CALL] }) => {
      const outcome = await ask(call)
      return { results: [outcome?.approved ? await work(call.args) : `${outcome?.status}: ${outcome?.reason}`] }
    })
    .addConditionalEdges(START, ({ calls }) => calls.map((call) => new Send('act', { calls: [call] })))
    .addEdge('act', END)
    .compile({ checkpointer })
}

async function resumed(graph: ReturnType<typeof graphOf>, { resume }: LangGraphApprovals) {
  const values = await resume(await graph.getState(IN_THREAD))
  if (!values) throw new Error('nothing to resume')
  return graph.invoke(new Command({ resume: values }), IN_THREAD)
}

describe('a node of LangGraph', () => {
  it('It asks once, although it repeats from its start, and takes the action before it acts', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host)
    const { done, run } = refunds()
    const graph = graphOf(approvals, undefined, run)
    await graph.invoke({ calls: [CALL] }, IN_THREAD)
    expect((await graph.getState(IN_THREAD)).tasks[0]?.interrupts).toMatchObject([
      { value: { type: 'approval', toolCallId: 'c1', message: 'May the agent call refund?' } },
    ])
    const running = resumed(graph, approvals)
    await host.answer(1)
    expect((await running).results).toEqual(['refunded'])
    expect(done).toEqual([ARGS])
    expect(await host.all()).toMatchObject([{ status: 'accepted', consumed: {} }])
  })

  it('Tasks beside one another resume with all their answers at once', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host)
    const graph = graphOf(approvals)
    const calls = [CALL, { ...CALL, id: 'c2', args: { ...ARGS, orderId: 'B-2' } }]
    await graph.invoke({ calls }, IN_THREAD)
    const running = resumed(graph, approvals)
    for (const view of await host.open(2)) {
      const answer = view.action?.args.orderId === 'A-1' ? 'accept' : 'decline'
      await host.sallyport.approvals.answer({ ...nameOf(view), user: ADA, answer })
    }
    expect((await running).results).toEqual(['refunded', 'declined: A person declined it.'])
  })

  // curie#766: an answer to an agent that had ended was lost.
  it('An answer that comes when no process runs the graph is kept, and one that is open resumes nothing', async () => {
    const host = agentHost()
    const saver = new MemorySaver()
    await graphOf(approvalsOf(host), saver).invoke({ calls: [CALL] }, IN_THREAD)
    const { done, run } = refunds()
    const graph = graphOf(approvalsOf(host), saver, run)
    const state = await graph.getState(IN_THREAD)
    expect(await approvalsOf(host, { waitMs: 0 }).resume(state)).toBeUndefined()
    await host.answer(1)
    await resumed(graph, approvalsOf(host))
    expect(done).toEqual([ARGS])
    expect(await approvalsOf(host).resume(await graph.getState(IN_THREAD))).toBeUndefined()
  })

  // NousResearch/hermes-agent#76235: a time-out was told as a denial by the user.
  it('A question that expires is told as what it is', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host, { expiresInMs: 60_000 })
    const graph = graphOf(approvals)
    await graph.invoke({ calls: [CALL] }, IN_THREAD)
    host.clock.advance(60_000)
    expect((await resumed(graph, approvals)).results).toEqual([
      'expired: Nobody answered in time, and nobody declined.',
    ])
  })

  it('The other interrupts of a node keep their places, also when the answer is there before', async () => {
    const host = agentHost()
    const { ask, resume } = approvalsOf(host)
    const graph = new StateGraph(State)
      .addNode('act', async () => ({ results: [`${(await ask(CALL))?.status}`, String(interrupt('how much?'))] }))
      .addEdge(START, 'act')
      .addEdge('act', END)
      .compile({ checkpointer: new MemorySaver() })
    await graph.invoke({ calls: [] }, IN_THREAD)
    await host.answer(1)
    await graph.invoke(new Command({ resume: await resume(await graph.getState(IN_THREAD)) }), IN_THREAD)
    expect(await resume(await graph.getState(IN_THREAD))).toBeUndefined()
    const { results } = await graph.invoke(new Command({ resume: '400 USD' }), IN_THREAD)
    expect(results).toEqual(['accepted', '400 USD'])
  })

  it('A resume with another value releases nothing', async () => {
    const host = agentHost()
    const { done, run } = refunds()
    const graph = graphOf(approvalsOf(host, { waitMs: 0 }), undefined, run)
    await graph.invoke({ calls: [CALL] }, IN_THREAD)
    const { results } = await graph.invoke(new Command({ resume: { status: 'accepted', approved: true } }), IN_THREAD)
    expect(results).toEqual(['open: Nobody has answered yet.'])
    expect(done).toEqual([])
  })

  // microsoft/agent-framework#7458 and #7594: an answer was consumed before the run could fail.
  it('A node that fails after it took the action gets it again', async () => {
    const host = agentHost()
    const approvals = approvalsOf(host)
    const saver = new MemorySaver()
    const failing = graphOf(approvals, saver, () => Promise.reject(new Error('down')))
    await failing.invoke({ calls: [CALL] }, IN_THREAD)
    await host.answer(1)
    await expect(resumed(failing, approvals)).rejects.toThrow('down')
    const { done, run } = refunds()
    const { results } = await graphOf(approvalsOf(host), saver, run).invoke(null, IN_THREAD)
    expect([done, results]).toEqual([[ARGS], ['refunded']])
  })

  // extra-org/extra#139: an approval of one action released another one.
  it('A node that comes back with other arguments or another tool asks anew', async () => {
    for (const change of [{ args: { ...ARGS, amount: 9_000 } }, { name: 'erase' }]) {
      const host = agentHost()
      const saver = new MemorySaver()
      const approvals = approvalsOf(host, { waitMs: 0 })
      const before = graphOf(approvals, saver)
      await before.invoke({ calls: [CALL] }, IN_THREAD)
      await host.answer(1)
      const values = await approvals.resume(await before.getState(IN_THREAD))
      const { done, run } = refunds()
      const changed = graphOf({ ...approvals, ask: (call) => approvals.ask({ ...call, ...change }) }, saver, run)
      const { results } = await changed.invoke(new Command({ resume: values }), IN_THREAD)
      expect([done, results]).toEqual([[], ['open: Nobody has answered yet.']])
      expect(await host.open(1)).toMatchObject([{ action: { name: 'refund', args: ARGS, ...change } }])
    }
  })

  it('An acceptance contains what a schema of zod asks for, and calls without approval pass', async () => {
    const host = agentHost()
    const schema = JSON.parse(JSON.stringify(z.toJSONSchema(z.strictObject({ amount: z.number() }))))
    expect(schema).toMatchObject({ $schema: expect.any(String), additionalProperties: false })
    const { ask } = langGraphApprovals(host.client, { ...OPTIONS, schema, interrupt: () => undefined })
    const asking = ask(CALL)
    await host.answer(1, 'accept', { content: { amount: 400 } })
    expect(await asking).toMatchObject({ approved: true, first: true, content: { amount: 400 } })
    expect(await approvalsOf(host, { eventType: () => undefined }).ask(CALL)).toBeUndefined()
  })
})
