import type { PreferenceSet } from '../../model/preference-set.ts'
import type { RecipientAddress, RecipientProfile } from '../../model/recipient-profile.ts'
import type { SuppressionView } from '../../model/suppression.ts'
import type { CallDescription } from '../../openapi/call-operations.ts'
import type { DescribedEndpoints } from '../../openapi/described-endpoints.ts'
import { suppression } from '../../openapi/dispatch-schemas.ts'
import { type BodySchema, pageOf, reference, s } from '../../openapi/model-schema.ts'
import { PROFILE_ACTIONS, SUPPRESSION_ACTIONS } from './actions.ts'

const suppressions: BodySchema = s.object<{ readonly items: readonly SuppressionView[] }>(
  'Suppressions',
  'Those of an address.',
  {
    items: s.list(suppression),
  },
)
const added: BodySchema = s.object<{ readonly added: boolean }>('SuppressionAdded', undefined, {
  added: s.flag('`false`: it was there already.'),
})
const removed: BodySchema = s.object<{ readonly removed: number }>('SuppressionsRemoved', undefined, {
  removed: s.whole(0),
})

const choice = s.either(s.flag(), s.map(s.flag(), 'By channel.'))

const preferences = s.object<PreferenceSet>('Preferences', 'Choices of a recipient: `true` for yes, `false` for no.', {
  channels: s.optional(s.map(s.flag(), 'By channel.')),
  categories: s.optional(s.map(choice, 'By category, whole or by channel.')),
  events: s.optional(s.map(choice, 'By event, whole or by channel.')),
})

const recipientAddress = s.object<RecipientAddress>('RecipientAddress', 'An address of a recipient on one channel.', {
  channel: s.text(),
  address: s.text('Enough to recognise it, not enough to use it.'),
  suppressions: s.optional(s.list(suppression, 'Those that hold now, oldest first. Absent: the host stores none.')),
})

const recipient: BodySchema = s.object<RecipientProfile>(
  'Recipient',
  'What decides whether messages reach a recipient.',
  {
    preferences: s.optional(preferences),
    addresses: s.list(recipientAddress, 'Of its newest 50 dispatches, and itself if it is suppressed.'),
  },
)

const DESCRIPTIONS: Readonly<Record<string, CallDescription>> = {
  find_recipient: {
    operationId: 'findRecipient',
    summary: 'Find what decides whether messages reach a recipient',
    tag: 'outbound',
    about:
      'Its preferences, and the addresses of its newest 50 dispatches with their suppressions. Writes nothing. It is a POST, because an address in a query string would be in access logs.',
    required: [['recipient']],
    answer: recipient,
  },
  list_suppressions: {
    operationId: 'listSuppressions',
    summary: 'List suppressions',
    tag: 'outbound',
    about:
      'Addresses that nothing is sent to, as keyed hashes. A page may have fewer items than `limit`, even none, and yet a `next`.',
    fields: { reason: { schema: reference('SuppressionReason') } },
    answer: pageOf('SuppressionPage', suppression),
  },
  find_suppressions: {
    operationId: 'findSuppressions',
    summary: 'Find the suppressions of an address',
    tag: 'outbound',
    about: 'Writes nothing. It is a POST, because an address in a query string would be in access logs.',
    required: [['address'], ['addressKey']],
    answer: suppressions,
  },
  add_suppression: {
    operationId: 'addSuppression',
    summary: 'Suppress an address',
    tag: 'outbound',
    about: 'From then on no attempt to this address begins.',
    required: [['channel', 'address']],
    answer: added,
  },
  remove_suppressions: {
    operationId: 'removeSuppressions',
    summary: 'Remove the suppressions of an address',
    tag: 'outbound',
    about: 'Of all reasons. A repeated report of a provider does not restore them.',
    required: [['address'], ['addressKey']],
    answer: removed,
  },
}

/** Endpoints of `consent`, with their texts and answers. Only the OpenAPI document and tests import them. */
export const CONSENT_ENDPOINTS: DescribedEndpoints = {
  calls: [...PROFILE_ACTIONS, ...SUPPRESSION_ACTIONS],
  descriptions: DESCRIPTIONS,
}
