import { describe, expect, it } from 'vitest'
import { NOW, problemOf, recorder } from './recorder.ts'

const long = (length: number): string => 'x'.repeat(length)
const many = (length: number, prefix: string): Record<string, number> =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`${prefix}${index}`, 1]))
const cost = { amount: '1', currency: 'USD', source: 'client' }
const STATUSES = 'expected one of queued, running, waiting, completed, incomplete, failed, cancelled'

/** Fields beside the run id, the pointer of the fault, and its detail. */
const WORDS: readonly (readonly [run: object, place: string, detail: string])[] = [
  [{ runId: 5 }, '/runId', 'expected a string'],
  [{ runId: '' }, '/runId', 'expected 1 to 200 characters'],
  [{ runId: 'a b' }, '/runId', 'expected only A-Z a-z 0-9 _ . : -, and not . or ..'],
  [{ runId: '..' }, '/runId', 'expected only A-Z a-z 0-9 _ . : -, and not . or ..'],
  [{ status: 3 }, '/status', 'expected a string'],
  [{ status: 'sleeping' }, '/status', STATUSES],
  [
    { status: 'interrupted' },
    '/status',
    `${STATUSES}; interrupted is ambiguous: waiting, if the run will go on, or cancelled`,
  ],
  [{ status: 'expired' }, '/status', `${STATUSES}; only the stale sweep sets expired`],
  [{ counts: 5 }, '/counts', 'expected an object'],
  [{ counts: { A: 1 } }, '/counts/A', 'expected a name of a-z, then A-Z a-z 0-9 _, at most 64'],
  [{ counts: many(33, 'c') }, '/counts', 'expected at most 32 counters of your own'],
  [{ counts: { steps: -1 } }, '/counts/steps', 'expected 0 to 2^53 - 1'],
  [{ counts: { steps: '3' } }, '/counts/steps', 'expected an integer'],
  [{ attempt: 0 }, '/attempt', 'expected 1 to 2^53 - 1'],
  [{ cost: { ...cost, currency: 5 } }, '/cost/currency', 'expected a string'],
  [{ cost: { ...cost, currency: 'EURO' } }, '/cost/currency', 'expected an ISO 4217 code'],
  [{ cost: { ...cost, currency: 'XQQ' } }, '/cost/currency', 'expected one of the currencies of ISO 4217, such as EUR'],
  [{ cost: { ...cost, amount: true } }, '/cost/amount', 'expected a decimal string or a number'],
  [{ cost: { ...cost, amount: 'x' } }, '/cost/amount', 'expected a decimal of at most 40 digits'],
  [{ cost: { ...cost, amount: '-1' } }, '/cost/amount', 'expected 0 or more'],
  [
    { timings: { startedAt: true } },
    '/timings/startedAt',
    'expected an RFC 3339 date-time or integer epoch milliseconds',
  ],
  [{ timings: { startedAt: 1e10 } }, '/timings/startedAt', 'looks like epoch seconds: expected epoch milliseconds'],
  [{ timings: { startedAt: 'x' } }, '/timings/startedAt', 'expected an RFC 3339 date-time with its offset'],
  [{ timings: { startedAt: '1969-12-31T23:59:59Z' } }, '/timings/startedAt', 'expected an instant after 1970'],
  [{ timings: { startedAt: NOW + 300_001 } }, '/timings/startedAt', 'lies more than 5 minutes ahead of the clock here'],
  [{ error: { type: 't', message: 5 } }, '/error/message', 'expected a string'],
  [{ error: { type: 't', message: long(2001) } }, '/error/message', 'expected at most 2000 characters'],
  [{ usage: 5 }, '/usage', 'expected an object'],
  [{ usage: { a: 'x\0' } }, '/usage/a', 'holds a NUL character'],
  [{ metadata: 5 }, '/metadata', 'expected an object'],
  [{ metadata: many(33, 'k') }, '/metadata', 'expected at most 32 keys'],
  [{ metadata: { '': 1 } }, '/metadata/', 'expected a key of 1 to 64 characters'],
  [{ metadata: { a: long(513) } }, '/metadata/a', 'expected at most 512 characters'],
  [{ metadata: { a: [] } }, '/metadata/a', 'expected a string, a number, a boolean or null'],
  [{ metadata: { a: Number.POSITIVE_INFINITY } }, '/metadata/a', 'expected a finite number'],
  [{ trace: { traceId: 'x', spanId: '1'.repeat(16) } }, '/trace/traceId', 'expected 32 hex digits, not all zero'],
  [{ tags: [long(65)] }, '/tags/0', 'expected 1 to 64 characters'],
  [{ tags: Object.keys(many(21, 't')) }, '/tags', 'expected at most 20'],
  [{ tags: 5 }, '/tags', 'expected array'],
  [{ parentRunId: 'r1' }, '/parentRunId', 'expected the id of another run'],
  [{ agent: 5 }, '/agent', 'expected object'],
]

describe('words of refusals', () => {
  it.each(WORDS)('A run with %j is refused at %s with: %s', async (run, place, detail) => {
    const { errors } = problemOf(await recorder().post({ runId: 'r1', ...run }))
    expect(errors).toMatchObject([{ pointer: `/run${place}`, detail }])
  })

  it('A refusal lists instants ahead in any form along with all other faults', async () => {
    const run = {
      runId: '',
      timings: { startedAt: '2026-11-21T10:05:01+02:00', endedAt: NOW + 300_001, queuedAt: NOW },
    }
    const { errors } = problemOf(await recorder().post(run))
    expect(errors?.map(({ pointer }) => pointer)).toEqual([
      '/run/runId',
      '/run/timings/startedAt',
      '/run/timings/endedAt',
    ])
  })
})
