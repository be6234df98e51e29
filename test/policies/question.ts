import type { PolicyQuestion } from '../../src/policies/index.ts'

/** A question about an order's mail to `u1`, with changes. */
export function question(given: Partial<PolicyQuestion> = {}): PolicyQuestion {
  return {
    tenant: 'default',
    category: 'c',
    eventType: 'order.shipped',
    critical: false,
    channel: 'email',
    recipient: { id: 'u1' },
    at: 1_000,
    ...given,
  }
}
