/**
 * What may go out, and when: preferences, quiet hours and throttles, and how they are put together.
 *
 * @module sallyport/policy
 */
export { allOf } from './policies/all-of.ts'
export { type PreferenceSet, preferences } from './policies/preferences.ts'
export { quietHours } from './policies/quiet-hours.ts'
export type { QuietHoursOptions } from './policies/quiet-hours-options.ts'
export { type ThrottleOptions, throttle } from './policies/throttle.ts'
export type { DeliveryPolicy, PolicyNames, PolicyQuestion, SendLimit, Verdict } from './ports/delivery-policy.ts'
