import type { CallDescription } from '../../openapi/call-operations.ts'
import type { DescribedEndpoints } from '../../openapi/described-endpoints.ts'
import { paragraphs } from '../../openapi/paragraphs.ts'
import type { PostDescription } from '../../openapi/post-operations.ts'
import { tokenUsePage } from '../../openapi/read-schemas.ts'
import { tokenAnswer } from '../../openapi/token-schemas.ts'
import { EXCHANGE, TOKEN_ACTIONS } from './actions.ts'

const DESCRIPTIONS: Readonly<Record<string, CallDescription>> = {
  list_token_uses: {
    operationId: 'listTokenUses',
    summary: 'List uses of session tokens, newest first',
    tag: 'agents',
    about: 'Uses are kept for a week.',
    answer: tokenUsePage,
  },
}

const EXCHANGE_DESCRIPTION: PostDescription = {
  operationId: 'exchangeToken',
  summary: 'Exchange a session token for a narrower one',
  description: paragraphs(
    [
      'Gives a sub-agent a token of its own, whose grants lie within those of the sent token. What it dispatches counts for both. It',
      'ends with the sent token at the latest, and is revoked with it. At most 8 levels.',
    ],
    ['Needs a session token. A host whose verifier exchanges none answers 404.'],
  ),
  tags: ['agents'],
  parameters: [],
  request: 'TokenExchangeRequest',
  answers: { 201: { description: 'The new token.', body: tokenAnswer } },
}

/** Endpoints of `agentTokens`, with their texts and answers. Only the OpenAPI document and tests import them. */
export const AGENT_TOKENS_ENDPOINTS: DescribedEndpoints = {
  posts: [{ action: EXCHANGE, description: EXCHANGE_DESCRIPTION }],
  calls: TOKEN_ACTIONS,
  descriptions: DESCRIPTIONS,
}
