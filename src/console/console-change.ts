import type { CancelResult, RetryResult } from '../model/dispatch-results.ts'

/** A change that a user of the console made. It is not redacted. */
export interface ConsoleChange {
  readonly action: 'cancel_dispatch' | 'retry_dispatch' | 'add_suppression' | 'remove_suppressions'
  /** As `access` gave it; empty without one. */
  readonly user: string
  readonly tenant: string
  /** Number of deliveries or suppressions that changed, at least 1. */
  readonly count: number
  /** With `cancel_dispatch` and `retry_dispatch`. */
  readonly dispatchId?: string
  /** With suppressions, as the user gave them. */
  readonly channel?: string
  readonly reason?: string
  readonly category?: string
  /** With suppressions. Personal data: nothing else names what was changed, because the store keeps only a hash. */
  readonly address?: string
  /** With suppressions that the user named by the hash in the list: that hash. */
  readonly addressKey?: string
}

type ChangeAction = ConsoleChange['action']

/** Size of each change, by its answer. */
const COUNT_OF: Readonly<Record<ChangeAction, (answer: never) => number>> = {
  cancel_dispatch: ({ cancelled }: CancelResult) => cancelled.length,
  retry_dispatch: ({ retried }: RetryResult) => retried.length,
  add_suppression: ({ added }: { readonly added: boolean }) => Number(added),
  remove_suppressions: ({ removed }: { readonly removed: number }) => removed,
}

function isChange(action: string): action is ChangeAction {
  return Object.hasOwn(COUNT_OF, action)
}

/** The change of a successful request; `undefined`: it changed nothing. */
export function changeOf(
  action: string,
  by: Pick<ConsoleChange, 'user' | 'tenant'>,
  asked: { readonly parameters?: Readonly<Record<string, string>>; readonly body: unknown },
  answer: unknown,
): ConsoleChange | undefined {
  if (!isChange(action)) return undefined
  const count = COUNT_OF[action](answer as never)
  if (count === 0) return undefined
  const { channel, reason, category, address, addressKey } = Object(asked.body)
  const given = Object.entries({ channel, reason, category, address, addressKey }).filter(
    ([, value]) => typeof value === 'string',
  )
  return { action, user: by.user, tenant: by.tenant, count, ...asked.parameters, ...Object.fromEntries(given) }
}
