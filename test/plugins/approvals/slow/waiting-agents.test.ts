import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { toNode } from '../../../../src/adapters/node.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { fakeClock } from '../../../support/fake-clock.ts'
import { closedAfterEach } from '../../../support/hosts/closed-after-each.ts'
import { listen } from '../../../support/hosts/host.ts'
import { type Program, startNode } from '../../../support/program.ts'
import { until } from '../../../support/until.ts'
import { approving } from '../approving.ts'

const AGENT = fileURLToPath(new URL('waiting-agent.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/** Time of one request of a wait: half of the client's time-out. */
const REQUEST_MS = 5_000

describe('agents in their own processes', () => {
  const toClose = closedAfterEach()
  const agents: Program[] = []
  afterEach(async () => {
    for (const agent of agents) agent.signal('SIGKILL')
    await Promise.all(agents.splice(0).map(({ ended }) => ended))
  })

  /** A server with an approval to wait for. `waiting` resolves when this many calls wait: each has a timer, and all share another one. */
  async function served(hosting: Parameters<typeof approving>[0] = {}) {
    const host = approving(hosting)
    const { url } = toClose(await listen(toNode(host.sallyport)))
    await host.request()
    const { clock } = host
    const others = clock.timers
    const waiting = (count: number): Promise<void> =>
      until(() => clock.timers - others === (count === 0 ? 0 : count + 1))
    return { ...host, url, waiting }
  }

  /** Starts an agent that waits for the approval. */
  function agentOf(url: string): Program {
    const agent = startNode(['--import', 'tsx', AGENT, url], ROOT)
    agents.push(agent)
    return agent
  }

  it('Agents that wait before the answer, and one that comes after it, are told the same', async () => {
    const host = await served()
    const early = [agentOf(host.url), agentOf(host.url)]
    await host.waiting(2)
    await host.answer()
    const lines = await Promise.all([...early, agentOf(host.url)].map((agent) => agent.line('ended')))
    expect(lines).toEqual(lines.map(() => 'ended accepted'))
    await host.waiting(0)
  })

  it('An agent that is killed leaves its place to the next one when the time of its request is over', async () => {
    const host = await served({ options: { maxWaiting: 1 } })
    const killed = agentOf(host.url)
    await host.waiting(1)
    killed.signal('SIGKILL')
    expect(await killed.ended).toBe('SIGKILL')
    host.clock.advance(REQUEST_MS)
    await host.waiting(0)
    const next = agentOf(host.url)
    await host.waiting(1)
    await host.answer()
    expect(await next.line('ended')).toBe('ended accepted')
  })

  it('An agent is told of an answer that another process took', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const host = await served({ store, clock })
    const other = approving({ store, clock })
    const agent = agentOf(host.url)
    await host.waiting(1)
    await other.answer()
    clock.advance(1_000)
    expect(await agent.line('ended')).toBe('ended accepted')
  })
})
