export type { ConsentOptions } from './check-options.ts'
export { type ConsentApi, consent } from './consent.ts'
export type { Preferences } from './preferences.ts'
export type { ProfileOptions, RecipientProfiles } from './recipient-profile.ts'
export type {
  AddSuppression,
  ImportedSuppressions,
  ImportSuppressionsOptions,
  SuppressionListOptions,
  Suppressions,
  SuppressionsOfAddress,
} from './suppressions.ts'
export type { LocalText, UnsubscribePageOptions } from './unsubscribe/unsubscribe-page-options.ts'
export type { UnsubscribeTexts } from './unsubscribe/unsubscribe-texts.ts'
