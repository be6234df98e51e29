import type { DispatchHead } from '../../model/dispatch.ts'

/** Priority of a delivery in its channel: a claim leases those with the lower number first. */
export type ClaimPriority = 0 | 1

export const URGENT = 0
export const NORMAL = 1

/** In the order of a claim. */
const CLAIM_PRIORITIES: readonly ClaimPriority[] = [URGENT, NORMAL]

/** The waiting and leased deliveries of one channel and priority. */
export interface ClaimQueue {
  readonly channel: string
  readonly priority: ClaimPriority
}

/** All queues of these channels, in the order of a claim. */
export function queuesOf(channels: readonly string[]): readonly ClaimQueue[] {
  return channels.flatMap((channel) => CLAIM_PRIORITIES.map((priority) => ({ channel, priority })))
}

/**
 * Priority of the deliveries of a dispatch. Default: normal, 1.
 *
 * @example
 * claimPriority({ priority: 'urgent' }) // 0
 */
export function claimPriority({ priority }: Pick<DispatchHead, 'priority'>): ClaimPriority {
  return priority === 'urgent' ? URGENT : NORMAL
}

/** Name of a queue, also of its cursor in `ClaimRequest.after` and `Claims.last`. A channel's name has no space. */
export function queueKey({ channel, priority }: ClaimQueue): string {
  return priority === URGENT ? `${channel} urgent` : channel
}
