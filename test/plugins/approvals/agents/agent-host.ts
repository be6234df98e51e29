import { setImmediate } from 'node:timers/promises'
import { toFetch } from '../../../../src/adapters/fetch.ts'
import { type ApprovalClient, createApprovalClient } from '../../../../src/client/approvals.ts'
import type { AgentApprovalOptions } from '../../../../src/integrations/approvals/asking.ts'
import type { ApprovalView } from '../../../../src/model/approval.ts'
import { ADA, type ApprovalHost, approving } from '../approving.ts'

export const OPTIONS: AgentApprovalOptions = { sessionId: 's1', runId: 'r1', eventType: 'refund.approval' }
export const ARGS = { orderId: 'A-1', amount: 900 }

/** A host whose agents ask, and the person who answers them. */
export interface AgentHost extends Omit<ApprovalHost, 'answer'> {
  readonly client: ApprovalClient
  /** All approvals with their content, the oldest first. */
  all(): Promise<readonly ApprovalView[]>
  /** Resolves to the open approvals when there are this many. */
  open(count: number): Promise<readonly ApprovalView[]>
  /** Answers all open approvals when there are this many. */
  answer(count: number, answer?: 'accept' | 'decline', more?: object): Promise<void>
}

/** The name of an approval. */
export function nameOf(view: ApprovalView | undefined): { readonly sessionId: string; readonly approvalId: string } {
  if (!view) throw new Error('there is no approval')
  return { sessionId: view.sessionId, approvalId: view.approvalId }
}

/** A tool that records its calls. */
export function refunds(): { readonly done: unknown[]; run(args: unknown): Promise<string> } {
  const done: unknown[] = []
  return {
    done,
    async run(args) {
      done.push(args)
      return 'refunded'
    },
  }
}

export function agentHost(hosting: Parameters<typeof approving>[0] = {}): AgentHost {
  const { answer: _, ...host } = approving(hosting)
  const { approvals } = host.sallyport
  const handle = toFetch(host.sallyport)
  const client = createApprovalClient({
    ...{ baseUrl: 'http://shop.test', token: 'asker', retries: 0 },
    fetch: async (url, init) => handle(new Request(url, init)),
  })
  const open: AgentHost['open'] = async (count) => {
    for (;;) {
      const { items } = await approvals.list({ status: 'open', content: true })
      if (items.length === count) return items.toReversed()
      await setImmediate()
    }
  }
  return {
    ...{ ...host, client, open },
    all: async () => (await approvals.list({ content: true })).items.toReversed(),
    async answer(count, answer = 'accept', more = {}) {
      for (const view of await open(count)) await approvals.answer({ ...nameOf(view), user: ADA, answer, ...more })
    },
  }
}
