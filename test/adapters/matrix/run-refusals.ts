import { RUN } from './paths.ts'
import { bodyRow, POST, type Row } from './refusal-row.ts'

/** In the store before the rows are sent. */
export const TAKEN = { sessionId: 's1', run: { runId: 'taken', parentRunId: 'p1' } } as const

function runRow(fields: object, ...pointers: string[]): Row {
  return bodyRow(RUN, { ...POST, run: { ...POST.run, ...fields } }, 'validation_failed', ...pointers)
}

/** Refused for the run that is posted. */
export const RUN_REFUSALS: Readonly<Record<string, Row>> = {
  'a run without its id': bodyRow(RUN, { sessionId: 's1', run: {} }, 'validation_failed', '/run/runId'),
  'a status that is ambiguous': runRow({ status: 'interrupted' }, '/run/status'),
  'a status that only the sweep sets': runRow({ status: 'expired' }, '/run/status'),
  'seconds for milliseconds': runRow({ timings: { startedAt: 1_768_464_000 } }, '/run/timings/startedAt'),
  'a date that is none': runRow({ timings: { endedAt: '2026-02-30T00:00:00Z' } }, '/run/timings/endedAt'),
  'a negative and a fractional count': runRow(
    { counts: { inputTokens: -1, steps: 1.5 } },
    '/run/counts/inputTokens',
    '/run/counts/steps',
  ),
  'metadata that is an object': runRow({ metadata: { a: {} } }, '/run/metadata/a'),
  "another session's run": bodyRow(
    RUN,
    { sessionId: 's9', run: { runId: 'taken' } },
    'run_identity_conflict',
    '/sessionId',
  ),
  'a parent that was another': bodyRow(
    RUN,
    { sessionId: 's1', run: { runId: 'taken', parentRunId: 'p2' } },
    'run_identity_conflict',
    '/run/parentRunId',
  ),
}
