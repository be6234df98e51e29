import type { RecordedPost, RefusedPost, SessionRunBatchAnswer, SessionRunBatchRequest } from '../model/run-batch.ts'
import { warning } from './dispatch-answer-schemas.ts'
import {
  type Component,
  component,
  either,
  list,
  type NamedSchema,
  object,
  optionalSchema,
  reference,
  type SchemaOf,
  wholeSchema,
} from './model-schema.ts'
import { problemSchema } from './problem-schema.ts'
import type { RequestComponent } from './request-notes.ts'
import { RUN_ANSWER_FIELDS } from './run-answer-schemas.ts'

const post: RequestComponent = 'SessionRunRequest'

export const batchRequest: Component<SessionRunBatchRequest> = component(
  'SessionRunBatchRequest',
  object<SessionRunBatchRequest>(
    {
      runs: {
        json: {
          type: 'array',
          description: 'Posts of one run or of several, each as it would be sent alone.',
          minItems: 1,
          maxItems: 100,
          items: reference(post),
        },
      },
    },
    'Many posts about runs.',
  ),
)

const recorded: SchemaOf<Omit<RecordedPost, 'problem'>> = object<Omit<RecordedPost, 'problem'>>(
  { status: wholeSchema(200, 'The status that the post would have got by itself.'), ...RUN_ANSWER_FIELDS },
  'A post of a batch that was recorded.',
)

// A post that was recorded has no problem: there is nothing to say of that field.
const recordedPost: Component<RecordedPost> = component('RecordedPost', recorded as SchemaOf<RecordedPost>)

const refusedPost: Component<RefusedPost> = component(
  'RefusedPost',
  object<RefusedPost>(
    {
      status: wholeSchema(400, 'The status that the post would have got by itself.'),
      problem: problemSchema,
      retryAfterMs: optionalSchema(wholeSchema(0, 'When to send it again, in milliseconds from now.')),
    },
    'A post of a batch that was refused.',
  ),
)

export const batchAnswer: Component<SessionRunBatchAnswer> = component(
  'SessionRunBatchAnswer',
  object<SessionRunBatchAnswer>(
    {
      results: list(either(recordedPost, refusedPost), 'One for each post, in their order.'),
      warnings: list(warning, 'About the batch itself; what is told of a post is in its result.'),
    },
    'What became of each post.',
  ),
)

export const BATCH_SCHEMAS: readonly NamedSchema[] = [batchRequest, batchAnswer, recordedPost, refusedPost]
