import {
  type AuthVerifier,
  type Channel,
  type DispatchRequest,
  defineEvents,
  type EventCatalog,
  type SessionRunRequest,
} from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import { jsonLogic } from 'sallyport/json-logic'
import { liquid } from 'sallyport/liquid'
import { htmlOf, liquidMail, order, orderSchema, subjectOf } from './mail.ts'

/** The parts of the measured workload. */
export interface Workload {
  readonly headers: Readonly<Record<string, string>>
  readonly auth: AuthVerifier
  readonly withLiquid: EventCatalog
  readonly withFunctions: EventCatalog
  readonly channels: Readonly<Record<string, Channel>>
  readonly event: DispatchRequest
  run(runId: string): SessionRunRequest
}

/** The workload of every measurement: a mail of about 1 KB with a loop of five, and a run with twelve fields. */
export async function workload(): Promise<Workload> {
  const { secret } = await generateAppSecret({ env: 'bench' })
  const rule = { '>': [{ var: 'data.total' }, 0] }
  const withLiquid = defineEvents(
    { 'order.shipped': { data: orderSchema, channels: { email: { when: rule, ...liquidMail('data') } } } },
    { templates: liquid(), conditions: jsonLogic() },
  )
  const withFunctions = defineEvents(
    {
      'order.shipped': {
        data: orderSchema,
        channels: {
          email: { when: rule, subject: ({ data }) => subjectOf(data), html: ({ data }) => htmlOf(data) },
        },
      },
    },
    { conditions: jsonLogic() },
  )
  return {
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    auth: appSecrets([secret]),
    withLiquid,
    withFunctions,
    channels: {
      email: { address: () => 'ada@example.com', send: async () => ({ outcome: 'sent' as const }) },
    },
    event: { eventType: 'order.shipped', recipient: 'ada@example.com', eventData: { ...order } },
    run: (runId: string) => ({
      sessionId: 'session-1',
      run: {
        runId,
        status: 'completed',
        seq: 3,
        provider: 'anthropic',
        model: 'claude-sonnet-4-5',
        agent: { name: 'support-agent', version: '1.4.0' },
        timings: { startedAt: 1_768_464_000_000, endedAt: 1_768_464_007_250, timeToFirstTokenMs: 420 },
        counts: { inputTokens: 1600, cacheReadTokens: 1200, outputTokens: 405, modelCalls: 3, toolCalls: 2 },
        finishReason: 'stop',
        tags: ['refund'],
        metadata: { ticket: 4711 },
        trace: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' },
      },
    }),
  }
}
