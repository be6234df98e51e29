import { dispatchAnswer, dispatchPreview } from '../openapi/dispatch-schemas.ts'
import { paragraphs } from '../openapi/paragraphs.ts'
import type { PostDescription } from '../openapi/post-operations.ts'
import { posted } from '../openapi/request-schemas.ts'
import { batchAnswer, batchRequest, runAnswer } from '../openapi/run-schemas.ts'

/** Texts and answers of the actions that read their bodies themselves, by their names. Only the OpenAPI document and tests import them. */
export const POST_DESCRIPTIONS: Readonly<Record<string, PostDescription>> = {
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
    request: posted('DispatchRequest'),
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
    request: posted('SessionRunRequest'),
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
    request: batchRequest,
    answers: {
      200: {
        description: 'Whatever became of the posts: a result for each, in their order.',
        headers: ['Preference-Applied'],
        body: batchAnswer,
      },
    },
  },
}
