import type { OpenRequest } from '../../core/endpoints.ts'
import { wrongReturn } from '../../options/wrong-return.ts'
import { callHost } from '../../pages/call-host.ts'
import { isOfOtherPage } from '../../pages/other-pages.ts'
import type { ApprovalDeps } from './deps.ts'

const USER = '{ user } with a user of 1 to 2,048 characters, or undefined: nobody is signed in'

/**
 * The user of the host's session, as the option `access` names it. `undefined`: nobody is signed in to this tenant, `access` failed, or a page of
 * another site sent the request, which could answer in the user's name.
 */
export async function signedIn(
  tenant: string,
  { given, headers }: OpenRequest,
  { options: { access }, clock, report }: Pick<ApprovalDeps, 'options' | 'clock' | 'report'>,
): Promise<string | undefined> {
  if (!access || isOfOtherPage(headers)) return undefined
  try {
    const [request, ...context] = given as readonly never[]
    const named: unknown = await callHost(() => access(request as never, ...context), clock)
    const { user, tenant: own = tenant } = Object(named)
    if (user === undefined || user === '' || own !== tenant) return undefined
    if (typeof user !== 'string' || user.length > 2_048) throw wrongReturn('access() of approvals', named, USER)
    return user
  } catch (cause) {
    report(cause, { operation: 'hook' }, { level: 'error', event: 'hook.threw', fields: { hook: 'access' } })
    return undefined
  }
}
