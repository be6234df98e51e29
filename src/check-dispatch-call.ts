import { aTenant, aText, type Checks, optionProblems, unlessAbsent } from './check-options.ts'
import { isRecord } from './core/definition-checks.ts'

const MAX_DELAY_MS = 366 * 86_400_000

const CHECKS: Checks = {
  tenant: aTenant,
  idempotencyKey: aText,
  delayMs: unlessAbsent(isDelay, `is a whole number of milliseconds, 0 to ${MAX_DELAY_MS}`),
  store: unlessAbsent(isStore, 'is no store'),
}

/** Says what is wrong with the options of a call that accepts an event; `undefined`: nothing. */
export function faultOfDispatchCall(options: object): string | undefined {
  if (!isRecord(options)) return 'The second argument is an object of options.'
  const problems = optionProblems(options, CHECKS)
  // Who names a store means not to accept through the other one.
  if (Object.hasOwn(options, 'store') && Reflect.get(options, 'store') === undefined) {
    problems.push({ field: 'store', detail: 'is undefined' })
  }
  if (problems.length === 0) return undefined
  return `${problems.map(({ field, detail }) => `${field} ${detail}`).join('; ')}.`
}

function isDelay(ms: unknown): boolean {
  return typeof ms === 'number' && Number.isInteger(ms) && ms >= 0 && ms <= MAX_DELAY_MS
}

function isStore(value: unknown): boolean {
  const { accept, recall } = Object(value)
  return typeof accept === 'function' && typeof recall === 'function'
}
