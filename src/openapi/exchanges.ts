import type { Action } from '../core/endpoints.ts'
import { BATCH_EXCHANGES } from './batch-exchanges.ts'
import { DISPATCH_EXCHANGES } from './dispatch-exchanges.ts'
import type { Exchange } from './exchange.ts'
import type { OpenApiMediaType } from './open-api-document.ts'
import { RUN_EXCHANGES } from './run-exchanges.ts'

/** In this order, at one host. */
export const EXCHANGES: readonly Exchange[] = [...DISPATCH_EXCHANGES, ...RUN_EXCHANGES, ...BATCH_EXCHANGES]

type Examples = Pick<OpenApiMediaType, 'examples'>

/** What may be sent to an endpoint, each body once. */
export function requestExamples(action: Action, exchanges: readonly Exchange[]): Examples {
  const sent = new Set<string>()
  return examples(
    exchanges.filter((exchange) => {
      const body = JSON.stringify(exchange.request)
      const isNew = exchange.action === action && !sent.has(body)
      sent.add(body)
      return isNew
    }),
    'request',
  )
}

/** What an endpoint may answer with a status. */
export function answerExamples(action: Action, status: number, exchanges: readonly Exchange[]): Examples {
  return examples(
    exchanges.filter((exchange) => exchange.action === action && exchange.status === status),
    'answer',
  )
}

function examples(exchanges: readonly Exchange[], side: 'request' | 'answer'): Examples {
  if (exchanges.length === 0) return {}
  return {
    examples: Object.fromEntries(exchanges.map((one) => [one.name, { summary: one.summary, value: one[side] }])),
  }
}
