import type { Action } from '../core/endpoints.ts'
import type { PostRoute } from '../http/routes.ts'
import { dispatchAnswer, dispatchPreview } from './dispatch-schemas.ts'
import { answerExamples, type Exchange, requestExamples } from './exchanges.ts'
import { reference, type SchemaOf } from './model-schema.ts'
import type { OpenApiOperation, OpenApiResponse } from './open-api-document.ts'
import { type HeaderName, headersNamed, type ParameterName, parametersNamed } from './parameters-and-headers.ts'
import { problemResponses } from './problems.ts'
import type { RequestComponent } from './request-schemas.ts'
import { batchAnswer, runAnswer } from './run-schemas.ts'
import { tokenAnswer } from './token-schemas.ts'

/** The description of an endpoint; the rest is in the route table, the schemas and the problems. */
interface Described extends Pick<OpenApiOperation, 'operationId' | 'summary' | 'description' | 'tags'> {
  readonly parameters: readonly ParameterName[]
  /** Name of its schema. */
  readonly request: RequestComponent | 'SessionRunBatchRequest'
  /** By status. */
  readonly answers: Readonly<Record<number, Answer>>
}

interface Answer {
  readonly description: string
  readonly headers?: readonly HeaderName[]
  readonly body: Pick<SchemaOf<unknown>, 'json'>
}

const JSON_TYPE = 'application/json'

export function paragraphs(...texts: readonly (readonly string[])[]): string {
  return texts.map((lines) => lines.join(' ')).join('\n\n')
}

const DESCRIBED: Readonly<Record<Action, Described>> = {
  dispatch: {
    operationId: 'dispatch',
    summary: 'Dispatch an event',
    description: paragraphs(
      [
        'Turns an event for a recipient into deliveries, one for each channel of the event. 202 means that it is stored: what',
        'becomes of each delivery is in its `status` and `reason`. Errors that can be found before are refused before.',
      ],
      ['Needs an application secret, or a session token that grants the event, its channels and the recipient.'],
    ),
    tags: ['outbound'],
    parameters: ['IdempotencyKey', 'DryRun'],
    request: 'DispatchRequest',
    answers: {
      200: { description: 'With `dryRun=true`: the plan.', body: dispatchPreview },
      202: {
        description: 'The event is stored, whatever its channels do later.',
        headers: ['Idempotent-Replayed'],
        body: dispatchAnswer,
      },
    },
  },
  session_run: {
    operationId: 'recordRun',
    summary: 'Record what is known of a run',
    description: paragraphs(
      [
        'Merges a post into the record of a run. Posts may come late, twice and in any order: the record is the same.',
        'A post that contradicts the record is no error; `ignored` says what the run does not show of it.',
      ],
      ['Needs an application secret, or a session token of the same session.'],
    ),
    tags: ['agents'],
    parameters: ['Prefer'],
    request: 'SessionRunRequest',
    answers: {
      200: {
        description: 'The run was known: the post is merged into it.',
        headers: ['Preference-Applied'],
        body: runAnswer,
      },
      201: { description: 'The first post of a run.', headers: ['Preference-Applied'], body: runAnswer },
    },
  },
  session_run_batch: {
    operationId: 'recordRuns',
    summary: 'Record what is known of many runs',
    description: paragraphs([
      'Takes 1 to 100 posts, each as it would be sent alone. One that is refused harms no other: its result has the problem',
      'that it would have been answered with. Send again those with a 5xx, or the whole batch: nothing is recorded twice.',
    ]),
    tags: ['agents'],
    parameters: ['Prefer'],
    request: 'SessionRunBatchRequest',
    answers: {
      200: {
        description: 'Whatever became of the posts: a result for each, in their order.',
        headers: ['Preference-Applied'],
        body: batchAnswer,
      },
    },
  },
  session_token: {
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
  },
}

/** The operation of a route, with its examples among these exchanges. */
export function operation({ action, maxBytes }: PostRoute, exchanges: readonly Exchange[]): OpenApiOperation {
  const { parameters, request, answers, ...described } = DESCRIBED[action]
  const responses = Object.entries(answers).map(
    ([status, { description, headers = [], body }]): [string, OpenApiResponse] => {
      const content = { schema: body.json, ...answerExamples(action, Number(status), exchanges) }
      return [
        status,
        { description, headers: headersNamed(['Cache-Control', ...headers]), content: { [JSON_TYPE]: content } },
      ]
    },
  )
  return {
    ...described,
    parameters: parametersNamed(parameters),
    requestBody: {
      description: `At most ${maxBytes.toLocaleString('en')} bytes of JSON in UTF-8, within 10 seconds.`,
      required: true,
      content: { [JSON_TYPE]: { schema: reference(request), ...requestExamples(action, exchanges) } },
    },
    responses: { ...Object.fromEntries(responses), ...problemResponses(action) },
  }
}
