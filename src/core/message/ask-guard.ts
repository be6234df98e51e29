import { wrongReturn } from '../../options/wrong-return.ts'
import type { GuardedMessage, MessageGuard, Objection } from '../../ports/message-guard.ts'

/**
 * Asks a guard about one address. Throws for an invalid answer, so that a broken guard never allows sending.
 *
 * @param of Names the guard in that error.
 */
export async function askGuard(
  guard: MessageGuard,
  message: GuardedMessage,
  of = 'guard',
): Promise<Objection | undefined> {
  const given: unknown = await guard.check(message)
  if (given === undefined || given === 'suppressed' || given === 'opted_out') return given
  throw wrongReturn(`check() of the ${of}`, given, "'suppressed', 'opted_out' or undefined")
}
