import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  createMcpHandler,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type McpApprovalOptions, mcpApprovals } from '../../../../src/integrations/approvals/mcp.ts'
import { ADA } from '../approving.ts'
import { type AgentHost, ARGS, agentHost, nameOf, OPTIONS, refunds } from './agent-host.ts'

type Options = McpApprovalOptions<InputRequiredResult>
type Called = CallToolResult & { readonly requestState?: string }

interface McpHost extends AgentHost {
  readonly done: unknown[]
  /** What the client was asked to show. */
  readonly elicited: unknown[]
  readonly mcp: Client
  /** Calls the tool once; `requestState` is what the client sends back. */
  call(requestState?: string, args?: object): Promise<Called>
}

const codec = createRequestStateCodec<string>({ key: new Uint8Array(32).fill(7) })

/** A host, an MCP server with a tool that asks, and a client of it. */
async function mcpHost(
  more: Partial<Options> = {},
  {
    capabilities = {},
    work,
    verify = false,
  }: { capabilities?: object; work?: () => Promise<string>; verify?: boolean } = {},
): Promise<McpHost> {
  const host = agentHost()
  const { done, run } = refunds()
  const handler = createMcpHandler(() => {
    const server = new McpServer(
      { name: 'shop', version: '1.0.0' },
      verify ? { requestState: { verify: codec.verify } } : {},
    )
    const approvals = mcpApprovals(host.client, { ...OPTIONS, inputRequired, ...more })
    const inputSchema = z.object({ orderId: z.string(), amount: z.number() })
    server.registerTool('refund', { inputSchema }, async (args, context) => {
      const { result } = await approvals.ask({ name: 'refund', args }, context)
      return result ?? { content: [{ type: 'text', text: await (work ?? run)(args) }] }
    })
    return server
  })
  const elicited: unknown[] = []
  const mcp = new Client(
    { name: 'agent', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  if ('elicitation' in capabilities)
    mcp.setRequestHandler('elicitation/create', async ({ params }) => {
      elicited.push(params)
      return { action: 'accept' }
    })
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> =>
    handler.fetch(new Request(url, init))
  await mcp.connect(new StreamableHTTPClientTransport(new URL('http://mcp.test/'), { fetch }))
  return {
    ...{ ...host, done, elicited, mcp },
    call: async (requestState, args = ARGS) =>
      (await mcp.callTool(
        { name: 'refund', arguments: { ...args }, ...(requestState !== undefined && { requestState }) },
        { allowInputRequired: true },
      )) as Called,
  }
}

const REFUNDED = { content: [{ type: 'text', text: 'refunded' }] }
const refused = (text: string) => ({ isError: true, content: [{ type: 'text', text }] })

describe('a tool of an MCP server', () => {
  it('It asks once for the rounds of one call, and does the action after the answer', async () => {
    const { call, open, answer, done, all } = await mcpHost()
    const first = await call()
    expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    expect(Object(first).inputRequests).toEqual({})
    const second = call(first.requestState)
    expect(await open(1)).toMatchObject([{ action: { name: 'refund', args: ARGS } }])
    await answer(1)
    expect(await second).toMatchObject(REFUNDED)
    expect(done).toEqual([ARGS])
    expect(await all()).toHaveLength(1)
  })

  it('A request that waits too long ends with another round', async () => {
    const { call, all } = await mcpHost({ waitMs: 0 })
    const { requestState } = await call()
    expect(await call(requestState)).toMatchObject({ resultType: 'input_required', requestState })
    expect(await all()).toHaveLength(1)
  })

  it('A client whose user is an approver shows the page, and the answer there counts, not what the client says', async () => {
    const urls: string[] = []
    const page: Options['page'] = ({ approvalId }) => {
      urls.push(`https://shop.test/approvals/${approvalId}`)
      return { user: ADA, url: `https://shop.test/approvals/${approvalId}` }
    }
    const { mcp, elicited, answer, done } = await mcpHost({ page }, { capabilities: { elicitation: { url: {} } } })
    const calling = mcp.callTool({ name: 'refund', arguments: ARGS })
    await answer(1, 'decline', { comment: 'not today' })
    expect(await calling).toMatchObject(refused('A person declined it: not today'))
    expect(elicited).toMatchObject([{ mode: 'url', url: urls[0], message: 'May the agent call refund?' }])
    expect(done).toEqual([])
  })

  it.each([
    ['that cannot show pages', ADA, {}],
    ['whose user is no approver', 'eve@example.com', { elicitation: { url: {} } }],
  ])('A client %s gets no page', async (_, user, capabilities) => {
    const { call } = await mcpHost({ page: () => ({ user, url: 'https://shop.test/' }) }, { capabilities })
    expect(Object(await call()).inputRequests).toEqual({})
  })

  // NousResearch/hermes-agent#76235: a time-out was told as a denial by the user.
  it('A question that expires is told as what it is', async () => {
    const { call, clock } = await mcpHost({ expiresInMs: 60_000 })
    const { requestState } = await call()
    clock.advance(60_000)
    expect(await call(requestState)).toMatchObject(refused('Nobody answered in time, and nobody declined.'))
  })

  // extra-org/extra#139: an approval of one action released another one.
  it('A state of the client releases neither other arguments, nor another call, nor a call that nobody asked about', async () => {
    const { call, open, answer, done, sallyport } = await mcpHost({ waitMs: 0 })
    const { requestState } = await call()
    await answer(1)
    const changed = await call(requestState, { ...ARGS, amount: 9_000 })
    expect(changed).toMatchObject({ resultType: 'input_required' })
    expect(await call('forged')).toMatchObject({ resultType: 'input_required' })
    expect(done).toEqual([])
    for (const view of await open(2)) await sallyport.approvals.cancel(nameOf(view))
    expect(await call(requestState)).toMatchObject(REFUNDED)
  })

  // openai-agents-python#4257: a replay ran the tool twice.
  it('A client that sends a call again after it was done gets no second action', async () => {
    const { call, answer, done } = await mcpHost()
    const { requestState } = await call()
    await answer(1)
    await call(requestState)
    expect(await call(requestState)).toMatchObject(refused('This call has taken the action before.'))
    expect(done).toEqual([ARGS])
  })

  // microsoft/agent-framework#7458 and #7594: an answer was consumed before the run could fail.
  it('With once: false, a call that failed after it took the action gets it again', async () => {
    let isDown = true
    const work = async () => {
      if (isDown) throw new Error('down')
      return 'refunded'
    }
    const { call, answer } = await mcpHost({ once: false }, { work })
    const { requestState } = await call()
    await answer(1)
    expect(await call(requestState)).toMatchObject(refused('down'))
    isDown = false
    expect(await call(requestState)).toMatchObject(REFUNDED)
  })

  it('A server that signs its states signs this one too, and actions without approval pass', async () => {
    const { call, answer } = await mcpHost({ mint: codec.mint }, { verify: true })
    const { requestState = '' } = await call()
    await answer(1)
    expect(await call(requestState)).toMatchObject(REFUNDED)
    await expect(call('forged')).rejects.toThrow()
    const free = await mcpHost({ eventType: () => undefined })
    expect(await free.call()).toMatchObject(REFUNDED)
  })
})
