import { type Checks, isRecord } from '../options/read-options.ts'
import { ClientError } from './client-error.ts'

/**
 * Refuses options that cannot be used, all of them at once: a client's part of the reader that a server has, which is larger than
 * the client itself.
 *
 * @throws {ClientError} `option_invalid`
 */
export function checkOptions<Options extends object>(call: string, options: Options, checks: Checks<Options>): void {
  const faults: string[] = []
  for (const name of Object.keys({ ...checks, ...options }) as (keyof Options & string)[]) {
    const value = Object(options)[name]
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    const fault = check
      ? value === undefined
        ? check.missing
        : check(value, {})
      : `is not an option; the options are: ${Object.keys(checks).join(', ')}`
    if (fault) faults.push(`${name} ${fault}`)
  }
  if (!isRecord(options)) faults.push('the options must be an object')
  if (faults.length > 0) throw new ClientError('option_invalid', `${call}: ${faults.join('; ')}`, { retryable: false })
}
