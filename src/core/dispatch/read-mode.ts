import type { Principal } from '../../model/principal.ts'
import { nearNames } from '../../model/suggestions.ts'
import { type HandlerRequest, type Refused, refuse } from '../answers/result.ts'
import { insufficientScope } from '../authenticate.ts'

/** `?dryRun=true` shows rendered content, and with it what the host knows of a recipient: for applications only. */
export function readMode(query: HandlerRequest['query'] = {}, principal: Principal): 'dispatch' | 'dry_run' | Refused {
  const { dryRun } = query
  const isSo = dryRun === undefined || dryRun === 'true' || dryRun === 'false'
  // What is nearly `dryRun` must not send.
  if (!isSo || Object.keys(query).some(isNearly)) {
    return refuse('validation_failed', 'The query parameter dryRun, written so and sent once, takes true or false.')
  }
  if (dryRun !== 'true') return 'dispatch'
  if (principal.sessionId === undefined) return 'dry_run'
  return insufficientScope('A dry run needs an application secret.')
}

/** In another case or alphabet width, with other signs in or around it, or with a slip: `dryRun[]`, `DryRun`, `options.dry_run`, `dryRn`. */
function isNearly(name: string): boolean {
  if (name === 'dryRun') return false
  const letters = name
    .slice(0, LONGEST)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z]/g, '')
  return letters.includes('dryrun') || (letters.length < 9 && nearNames(letters, ['dryrun']).length > 0)
}

/** Longer names are compared by their beginning. */
const LONGEST = 256
