import { type Checks, isRecord } from '../options/read-options.ts'
import { ClientError } from './client-error.ts'

/**
 * Checks options and reports all problems. The client has its own checker, because the server's option reader is larger than the client.
 * @throws {ClientError} `option_invalid`
 */
export function checkOptions<Options extends object>(call: string, options: Options, checks: Checks<Options>): void {
  const faults: string[] = []
  for (const name of Object.keys({ ...checks, ...options }) as (keyof Options & string)[]) {
    const value = Object(options)[name]
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    const fault = check
      ? value === undefined && check.missing === undefined
        ? undefined
        : check(value, {})
      : `is not an option; the options are: ${Object.keys(checks).join(', ')}`
    if (fault) faults.push(`${name} ${fault}`)
  }
  if (!isRecord(options)) faults.push('the options must be an object')
  if (faults.length > 0) throw new ClientError('option_invalid', `${call}: ${faults.join('; ')}`, { retryable: false })
}
