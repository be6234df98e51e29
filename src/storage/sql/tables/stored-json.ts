import type { JsonColumn } from '../../engine/json-values.ts'

type Check = (value: unknown) => boolean

/** Checks of the members that this store uses. A text that fails its check is damaged. */
const STORED_JSON: Readonly<Record<JsonColumn, Check>> = {
  'states.body': isListOf(isEntry),
  'contents.body': isObject,
  'digests.body': isDelivery,
  'members.event_data': isObject,
  // Objects, each followed by a comma.
  'jobs.begun': isListOf(isObject),
  'plan_sources.source': has({ eventData: isObject }),
  'idempotency_keys.answer': has({ dispatchId: isText, deliveries: isListOf(isObject) }),
  'counters.times': isListOf(isNumber),
  'sessions.totals': isTotals,
  'sessions.failures': isListOf(isObject),
  'runs.state': isRun,
  'runs.derived': has({ pending: Array.isArray }),
  'run_sums.totals': isTotals,
  'spends.spend': isSpend,
  'plugin_records.body': isObject,
}

/** The value of a stored text; `undefined` if it cannot be read. */
export function decode<T>(column: JsonColumn, text: string): T | undefined {
  const value = parse(column === 'jobs.begun' ? listed(text) : text)
  return STORED_JSON[column](value) ? (value as T) : undefined
}

/** Objects that are each followed by a comma, as a list. */
function listed(text: string): string {
  if (text === '') return '[]'
  return text.endsWith(',') ? `[${text.slice(0, -1)}]` : ''
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number'
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isListOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check)
}

function has(members: Readonly<Record<string, Check>>): Check {
  const checks = Object.entries(members)
  return (value) => isObject(value) && checks.every(([name, check]) => check(value[name]))
}

function isEntry(value: unknown): boolean {
  return isDelivery(value) || (isObject(value) && value.shared === true && isText(value.deliveryId))
}

function isDelivery(value: unknown): boolean {
  if (!isObject(value)) return false
  const { deliveryId, channel, status, acceptedAt, expiresAt, log = [] } = value
  return [deliveryId, channel, status].every(isText) && [acceptedAt, expiresAt].every(isNumber) && Array.isArray(log)
}

function isRun(value: unknown): boolean {
  if (!isObject(value)) return false
  const { runId, sessionId, application, agent } = value
  return isText(runId) && isText(sessionId) && (isObject(application) || isObject(agent))
}

function isSpend(value: unknown): boolean {
  if (!isObject(value)) return false
  const { runs, tokens, unpricedRuns, unpricedTokens, cost } = value
  return [runs, tokens, unpricedRuns, unpricedTokens].every(isNumber) && isObject(cost)
}

function isTotals(value: unknown): boolean {
  if (!isObject(value)) return false
  const { spend, byStatus, counts, models, time, durations, firstTokens, users } = value
  return isSpend(spend) && [byStatus, counts, models, time, durations, firstTokens, users].every(isObject)
}
