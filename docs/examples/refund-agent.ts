/**
 * An agent of the AI SDK that refunds only what a person accepts, and that person. `ai7` is `ai` 7; its mock model stands for a
 * real one.
 */
import { generateText, stepCountIs, tool } from 'ai7'
import { MockLanguageModelV4 } from 'ai7/test'
import type { Email } from 'postal-mime'
import { createApprovalClient } from 'sallyport/client/approvals'
import { aiSdkApprovals } from 'sallyport/integrations/approvals'
import * as z from 'zod'
import { tell } from './peers.ts'

const REFUND = { orderId: 'A-1001', amount: 900 }

/** Lets the agent ask. `token` is its session token, `mail` the one that the approver gets. */
export async function askBeforeRefund(baseUrl: string, token: string, mail: Promise<Email>): Promise<void> {
  const refunds: object[] = []
  const refund = tool({
    inputSchema: z.object({ orderId: z.string(), amount: z.number() }),
    execute: async (order) => {
      refunds.push(order)
      return `${order.amount} USD refunded`
    },
  })
  const { toolApproval } = aiSdkApprovals(createApprovalClient({ baseUrl, token }), {
    sessionId: 'session-2',
    runId: 'run-8',
    eventType: 'refund.approval',
    message: ({ args }) => `Refund ${args.amount} USD?`,
    waitMs: 10_000,
  })
  const running = generateText({
    model: modelOfAgent(),
    tools: { refund },
    toolApproval,
    prompt: 'The desk lamp of A-1001 came broken.',
    stopWhen: stepCountIs(3),
  })

  const { subject, text = '' } = await mail
  tell.check(`a mail asks finance@example.com: ${subject}`, subject === 'Approve? Refund 900 USD?')
  const [link = ''] = /http\S+/.exec(text) ?? []
  const page = await openPage(link)
  const isComplete = Object.values(REFUND).every((value) => page.includes(`${value}`))
  const isFirst = refunds.length === 0
  const answered = await openPage(link, { answer: 'accept', comment: 'It was broken.' })
  const isTaken = page.includes('<form') && !answered.includes('<form')
  tell.check('the page behind its link shows the action, and takes the answer', isComplete && isFirst && isTaken)
  const result = await running
  const isOnce = JSON.stringify(refunds) === JSON.stringify([REFUND])
  tell.check(`the agent goes on, and its tool runs once: ${result.text}`, isOnce)
}

/** Opens the page, or sends its form, as a person does in a browser. */
async function openPage(link: string, form?: Record<string, string>): Promise<string> {
  const response = await fetch(link, form && { method: 'POST', body: new URLSearchParams(form) })
  return response.text()
}

/** A model that calls `refund`, and then says what it gave. */
function modelOfAgent(): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 20, noCache: 20, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 10, text: 10, reasoning: 0 },
  }
  return new MockLanguageModelV4({
    doGenerate: async ({ prompt }) => {
      const [result] = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []))
      if (result?.type !== 'tool-result')
        return {
          content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'refund', input: JSON.stringify(REFUND) }],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage,
          warnings: [],
        }
      const text = result.output.type === 'text' ? result.output.value : result.output.type
      return {
        content: [{ type: 'text', text }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      }
    },
  })
}
