import type { TokenExchangeAnswer } from '../../model/token-exchange.ts'
import type { TokenUseView } from '../../model/token-use.ts'
import type { CallDescription } from '../../openapi/call-operations.ts'
import type { DescribedEndpoints } from '../../openapi/described-endpoints.ts'
import { type BodySchema, pageOf, s } from '../../openapi/model-schema.ts'
import { paragraphs } from '../../openapi/paragraphs.ts'
import type { PostDescription } from '../../openapi/post-operations.ts'
import { posted } from '../../openapi/request-schemas.ts'
import { EXCHANGE, TOKEN_ACTIONS } from './actions.ts'

const tokenUse = s.object<TokenUseView>('TokenUse', 'A use of a session token, or several equal ones.', {
  jti: s.text(),
  sessionId: s.text(),
  operation: s.among({ dispatch: true, session_run: true, read: true, manage: true, approval: true, exchange: true }),
  outcome: s.among({ accepted: true, refused: true }),
  code: s.optional(s.text('With `refused`: the code of the problem.')),
  id: s.optional(s.text('The dispatch, the run or the exchanged token; with `refused`, the `requestId`.')),
  times: s.whole(1, 'Number of equal requests.'),
  time: s.instant('The first of them.'),
})

const tokenAnswer: BodySchema = s.object<TokenExchangeAnswer>(
  'TokenExchangeAnswer',
  'A session token for a sub-agent.',
  { token: s.text('A JWT.'), expiresAt: s.instant() },
)

const DESCRIPTIONS: Readonly<Record<string, CallDescription>> = {
  list_token_uses: {
    operationId: 'listTokenUses',
    summary: 'List uses of session tokens, newest first',
    tag: 'agents',
    about: 'Uses are kept for a week.',
    answer: pageOf('TokenUsePage', tokenUse),
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
  request: posted('TokenExchangeRequest'),
  answers: { 201: { description: 'The new token.', body: tokenAnswer } },
}

/** Endpoints of `agentTokens`, with their texts and answers. Only the OpenAPI document and tests import them. */
export const AGENT_TOKENS_ENDPOINTS: DescribedEndpoints = {
  posts: [{ action: EXCHANGE, description: EXCHANGE_DESCRIPTION }],
  calls: TOKEN_ACTIONS,
  descriptions: DESCRIPTIONS,
}
