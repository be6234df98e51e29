import { SallyportError } from '../errors.ts'

/**
 * Refuses what the host gave to a handler that was made for another host.
 *
 * @param takes What the handler takes, and how to pass it.
 * @throws {SallyportError} `option_invalid`
 */
export function checkHandlerArguments(adapter: string, areRight: boolean, takes: string): void {
  if (!areRight) throw new SallyportError('option_invalid', `The handler of ${adapter}() takes ${takes}.`)
}
