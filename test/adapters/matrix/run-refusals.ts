import { RUN } from './paths.ts'
import { bodyRow, POST, type Row } from './refusal-row.ts'

/** A run stored before the requests. */
export const TAKEN = { sessionId: 's1', run: { runId: 'taken', parentRunId: 'p1' } } as const

function runRow(fields: object, ...pointers: string[]): Row {
  return bodyRow(RUN, { ...POST, run: { ...POST.run, ...fields } }, 'validation_failed', ...pointers)
}

/** Requests refused for the run in them. */
export const RUN_REFUSALS: Readonly<Record<string, Row>> = {
  'a run without its id': bodyRow(RUN, { sessionId: 's1', run: {} }, 'validation_failed', '/run/runId'),
  'an ambiguous status': runRow({ status: 'interrupted' }, '/run/status'),
  'a status that only the sweep sets': runRow({ status: 'expired' }, '/run/status'),
  'seconds in place of milliseconds': runRow({ timings: { startedAt: 1_768_464_000 } }, '/run/timings/startedAt'),
  'an invalid date': runRow({ timings: { endedAt: '2026-02-30T00:00:00Z' } }, '/run/timings/endedAt'),
  'a negative and a fractional count': runRow(
    { counts: { inputTokens: -1, steps: 1.5 } },
    '/run/counts/inputTokens',
    '/run/counts/steps',
  ),
  'metadata that is an object': runRow({ metadata: { a: {} } }, '/run/metadata/a'),
  'a changed parent': bodyRow(
    RUN,
    { sessionId: 's1', run: { runId: 'taken', parentRunId: 'p2' } },
    'run_identity_conflict',
    '/run/parentRunId',
  ),
}
