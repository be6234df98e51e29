import type { DeliveryReason } from './dispatch.ts'

/** Whether a delivery that failed for this reason failed in the host's own code: a template, a condition, `digest.key`. */
export function isHostCodeReason(reason: DeliveryReason | undefined): boolean {
  return reason === 'template_error' || reason === 'condition_error'
}
