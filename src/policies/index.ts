/**
 * Delivery policies: preferences, quiet hours and throttles, and `allOf` to combine them.
 * @module sallyport/policy
 */

export type { DeliveryPolicy, PolicyNames, PolicyQuestion, SendLimit, Verdict } from '../ports/delivery-policy.ts'
export { allOf } from './all-of.ts'
export { type PreferenceSet, preferences } from './preferences.ts'
export { type QuietHoursOptions, quietHours } from './quiet-hours.ts'
export { type ThrottleOptions, throttle } from './throttle.ts'
