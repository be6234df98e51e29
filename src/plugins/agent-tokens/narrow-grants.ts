import type { Issue } from '../../errors.ts'
import { DEFAULT_RUN_EVENTS, type DispatchGrant, type Principal } from '../../model/principal.ts'
import type { TokenGrants } from '../../model/token-exchange.ts'

/** Grants of a parent token. */
export type Granted = Pick<Principal, 'dispatch' | 'runEvents'>

export interface NarrowedGrants {
  readonly dispatch?: DispatchGrant
  readonly runEvents: number
}

/** Grants for a sub-agent, or an issue for each one that exceeds the parent's. Absent limits become those of the parent. */
export function narrowGrants(
  { dispatch: parent, runEvents: parentRunEvents = DEFAULT_RUN_EVENTS }: Granted,
  { dispatch, runEvents = Math.min(DEFAULT_RUN_EVENTS, parentRunEvents) }: TokenGrants,
): NarrowedGrants | { readonly issues: readonly Issue[] } {
  const issues = [
    ...(dispatch ? dispatchIssues(parent, dispatch) : []),
    ...(runEvents > parentRunEvents ? [beyond('/grants/runEvents', `the token grants ${parentRunEvents}`)] : []),
  ]
  if (issues.length > 0) return { issues }
  if (!dispatch) return { runEvents }
  const { maxDispatches = parent?.maxDispatches, events, channels, recipients } = dispatch
  const counted = maxDispatches === undefined ? {} : { maxDispatches }
  return { dispatch: { events, channels, recipients, ...counted }, runEvents }
}

const LISTS = ['events', 'channels', 'recipients'] as const

function dispatchIssues(parent: DispatchGrant | undefined, asked: DispatchGrant): readonly Issue[] {
  if (!parent) return [beyond('/grants/dispatch', 'the token grants no dispatch')]
  const names = LISTS.flatMap((list) => {
    const granted = new Set(parent[list])
    return asked[list].flatMap((name, index) =>
      granted.has(name) ? [] : [beyond(`/grants/dispatch/${list}/${index}`, 'the token does not grant it')],
    )
  })
  const { maxDispatches: most = Number.POSITIVE_INFINITY } = parent
  const isMore = asked.maxDispatches !== undefined && asked.maxDispatches > most
  return isMore ? [...names, beyond('/grants/dispatch/maxDispatches', `the token grants ${most}`)] : names
}

function beyond(pointer: string, detail: string): Issue {
  return { pointer, code: 'not_allowed', detail }
}
