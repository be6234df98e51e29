import type { DeliveryReason } from './dispatch.ts'

/** Why a delivery ended without a send, in the words of statistics: a reason, or `expired` for one past its expiry. */
export type UnsentReason = DeliveryReason | 'expired'

const UNSENT: Readonly<Record<UnsentReason, true>> = {
  condition_false: true,
  no_address: true,
  opted_out: true,
  suppressed: true,
  throttled: true,
  fallback_unneeded: true,
  sandboxed: true,
  provider_rejected: true,
  channel_rejected: true,
  attempts_exhausted: true,
  condition_error: true,
  template_error: true,
  channel_error: true,
  record_unreadable: true,
  expired: true,
}

export const UNSENT_REASONS: readonly UnsentReason[] = Object.keys(UNSENT) as UnsentReason[]
