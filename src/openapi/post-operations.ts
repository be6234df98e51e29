import type { ActionRoute } from '../core/endpoints.ts'
import { answerExamples, type Exchange, requestExamples } from './exchanges.ts'
import type { BodySchema } from './model-schema.ts'
import type { OpenApiOperation, OpenApiResponse } from './open-api-document.ts'
import { type HeaderName, headersNamed, type ParameterName, parametersNamed } from './parameters-and-headers.ts'
import { problemResponses } from './problems.ts'

/** Texts and answers of an action that reads its body itself; the rest is in its row, the schemas and the problems. */
export interface PostDescription extends Pick<OpenApiOperation, 'operationId' | 'summary' | 'description' | 'tags'> {
  readonly parameters: readonly ParameterName[]
  readonly request: BodySchema
  /** By status. */
  readonly answers: Readonly<Record<number, Answer>>
}

interface Answer {
  readonly description: string
  readonly headers?: readonly HeaderName[]
  readonly body: BodySchema
}

const JSON_TYPE = 'application/json'

/** The operation of an action that reads its body itself, with its examples among these exchanges. */
export function postOperation(
  { name: action, maxBytes }: ActionRoute,
  { parameters, request, answers, ...described }: PostDescription,
  exchanges: readonly Exchange[],
): OpenApiOperation {
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
      content: { [JSON_TYPE]: { schema: request.json, ...requestExamples(action, exchanges) } },
    },
    responses: { ...Object.fromEntries(responses), ...problemResponses(action) },
  }
}
