import type { CallDescription } from '../../openapi/call-operations.ts'
import type { DescribedEndpoints } from '../../openapi/described-endpoints.ts'
import { reference } from '../../openapi/model-schema.ts'
import { added, recipient, removed, suppressionPage, suppressions } from '../../openapi/read-schemas.ts'
import { PROFILE_ACTIONS, SUPPRESSION_ACTIONS } from './actions.ts'

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
    answer: suppressionPage,
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
