import type { AnsweredRun, RunCounts } from '../model/run.ts'
import type {
  Percentiles,
  RunNode,
  Session,
  SessionShare,
  SessionSummary,
  SessionTime,
  TimelineEntry,
} from '../model/session.ts'
import { amounts, money, unpriced } from './amount-schemas.ts'
import { approval } from './approval-schemas.ts'
import { dispatchView } from './dispatch-schemas.ts'
import { type BodySchema, type FieldsOf, pageOf, type SchemaOf, s } from './model-schema.ts'
import { run, runStatus } from './run-schemas.ts'

const counts: SchemaOf<RunCounts> = s.posted('RunCounts')

const share = s.object<SessionShare>('SessionShare', 'Share of one model or provider.', {
  provider: s.optional(s.text()),
  model: s.optional(s.text()),
  runs: s.whole(0),
  counts,
  cost: s.list(money),
})

const percentiles = s.object<Percentiles>('Percentiles', 'Milliseconds, within 1.6 % of the exact value.', {
  runs: s.whole(0),
  p50: s.whole(0),
  p95: s.whole(0),
})

const sessionTime = s.object<SessionTime>('SessionTime', 'Sums in milliseconds.', {
  durationMs: s.optional(s.whole(0)),
  activeMs: s.optional(s.whole(0)),
  waitingMs: s.optional(s.whole(0)),
  modelMs: s.optional(s.whole(0)),
  toolMs: s.optional(s.whole(0)),
})

const runNode = s.object<RunNode>('RunNode', 'A run with its child runs.', {
  runId: s.text(),
  status: runStatus,
  agent: s.optional(s.posted('RunAgent')),
  model: s.optional(s.text()),
  startedAt: s.optional(s.instant()),
  durationMs: s.optional(s.whole(0)),
  parentRunId: s.optional(s.text('There if the parent is not in this tree.')),
  children: s.list(s.posted<RunNode>('RunNode')),
})

type Entry<Type> = Omit<Extract<TimelineEntry, { type: Type }>, 'run'>

const runEntry = s.object<Entry<'run'> & { readonly run: AnsweredRun }>('RunEntry', undefined, {
  type: s.always('run'),
  at: s.instant(),
  run,
})

const dispatchEntry = s.object<Entry<'dispatch'>>('DispatchEntry', undefined, {
  type: s.always('dispatch'),
  at: s.instant(),
  dispatch: dispatchView,
})

const approvalEntry = s.object<Entry<'approval'>>('ApprovalEntry', undefined, {
  type: s.always('approval'),
  at: s.instant(),
  approval,
})

const entries = s.either(runEntry, dispatchEntry, approvalEntry)

const failure = s.object<NonNullable<Session['lastError']>>('SessionFailure', 'The last failed run.', {
  runId: s.text(),
  at: s.instant(),
  byAgent: s.optional(s.always(true, 'Only an agent reported the failure.')),
  error: s.optional(s.posted('RunError')),
})

const sessionRuns = s.object<Session['runs']>('SessionRuns', undefined, {
  total: s.whole(0),
  byStatus: { json: s.map(s.whole(0), 'Number of runs by status.').json },
})

const SUMMARY: FieldsOf<SessionSummary> = {
  sessionId: s.text(),
  createdAt: s.instant(),
  updatedAt: s.instant(),
  runs: sessionRuns,
  counts,
  tokens: s.whole(0, 'Input plus output.'),
  cost: s.list(money, 'By currency.'),
  byAgent: amounts,
  unpriced,
  models: s.list(share),
  providers: s.list(share),
  duration: s.optional(percentiles),
  timeToFirstToken: s.optional(percentiles),
  time: sessionTime,
  inexact: s.optional(s.always(true, 'A sum stopped: it is 2^53 - 1.')),
  lastError: s.optional(failure),
}

const summary = s.object<SessionSummary>('SessionSummary', 'A session with the totals of its runs.', SUMMARY)

export const session: BodySchema = s.object<Session>(
  'Session',
  'A session with the totals of its runs and its newest entries.',
  {
    ...SUMMARY,
    tree: s.list(runNode, 'The newest 100 runs, each under its parent.'),
    timeline: { json: s.list(entries, 'The newest 100 runs, dispatches and approvals, oldest first.').json },
  },
)

export const timelinePage: BodySchema = pageOf('TimelinePage', entries)
export const sessionPage: BodySchema = pageOf('SessionPage', summary)
