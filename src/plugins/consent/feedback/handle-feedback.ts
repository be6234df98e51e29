import { port } from '../../../core/answers/fault.ts'
import { inTime } from '../../../core/answers/in-time.ts'
import { type HandlerResult, type Refused, refuse, success } from '../../../core/answers/result.ts'
import type { OpenAction, OpenEndpoint, OpenHead, OpenRequest } from '../../../core/endpoints.ts'
import type { Awaitable } from '../../../model/awaitable.ts'
import { sha256 } from '../../../model/sha256.ts'
import { wrongReturn } from '../../../options/wrong-return.ts'
import type { FeedbackEvent, FeedbackHead, FeedbackReceipt, FeedbackSource } from '../../../ports/feedback-source.ts'
import type { FeedbackBatch, NewFeedback } from '../feedback-records.ts'
import { fallBackAfter } from './fall-back.ts'
import type { FeedbackDeps } from './feedback-deps.ts'
import { readEvent, UNKNOWN_SHAPE } from './read-events.ts'
import { recordableReports } from './recordable-reports.ts'
import { resubscribe } from './resubscribe.ts'

/** Answer to accepted feedback. */
export interface FeedbackAnswer {
  /** Events of the request. */
  readonly events: number
}

/** Reports in one transaction of the store. */
const BATCH = 100
/** With a proof that counts once, all reports are stored in one transaction. */
const MAX_ONCE = 1_000

/** `POST /api/outbound/feedback/{name}`, for each source by its name. */
export function feedbackAction(sources: ReadonlyMap<string, FeedbackSource>, deps: FeedbackDeps): OpenAction {
  return {
    name: 'feedback',
    methods: ['POST'],
    path: '/api/outbound/feedback/',
    parameter: '{name}',
    maxBytes: 1_048_576,
    accepts: 'bytes',
    find(name, head) {
      const source = sources.get(name)
      return source && feedbackEndpoint(name, source, head, deps)
    },
  }
}

/** The endpoint of one source, unless the head shows that the proof is not right. Requests of other sources do not share its places. */
async function feedbackEndpoint(
  name: string,
  source: FeedbackSource,
  head: OpenHead,
  deps: FeedbackDeps,
): Promise<OpenEndpoint | Refused> {
  if (head.method === 'POST' && !(await canBeProven(source, head, deps))) return refuseProof(name, deps)
  return { name, maxBytes: source.maxBytes, handle: (request) => handleFeedback(name, source, request, deps) }
}

async function canBeProven(source: FeedbackSource, request: OpenHead, { clock }: FeedbackDeps): Promise<boolean> {
  if (!source.head) return true
  return port('feedback_unavailable', async () => {
    const given: unknown = source.head?.(headOf(request, clock.now()))
    if (typeof given === 'boolean') return given
    throw wrongReturn('head() of the feedback source', given, 'true to read the body, or false to refuse the request')
  })
}

/**
 * Checks the proof of a request of a provider and stores its events: `POST /api/outbound/feedback/{name}` without HTTP. Answers 200 when
 * everything is stored, 401 without a right proof, 503 when the proof cannot be checked now.
 */
async function handleFeedback(
  name: string,
  source: FeedbackSource,
  request: OpenRequest,
  deps: FeedbackDeps,
): Promise<HandlerResult<FeedbackAnswer> | Refused> {
  const receipt = await receive(source, request, deps)
  if (receipt.outcome !== 'events') return refuseProof(name, deps)
  const events = [...receipt.events].map(readEvent)
  const unread = (code: string): number => events.filter((event) => event.code === code).length
  const unknown = unread(UNKNOWN_SHAPE)
  if (unknown > 0) deps.logger.log('warn', 'feedback.unknown_shape', { source: name, events: unknown })
  const tooMany = unread('too_many_events')
  if (tooMany > 0) deps.logger.log('warn', 'feedback.too_many_events', { source: name, events: tooMany })
  const { added, reports } = await record(name, source, receipt, events, deps)
  await fallBackAfter(reports, deps)
  deps.logger.log('info', 'feedback.received', { source: name, events: events.length, added })
  return success(200, { events: events.length })
}

/** Providers repeat their requests, and a source may fetch a certificate. */
const RECEIVE_MS = 10_000

function receive(source: FeedbackSource, request: OpenRequest, { clock }: FeedbackDeps): Promise<FeedbackReceipt> {
  return port('feedback_unavailable', async () => {
    const receiving: Awaitable<unknown> = source.receive({ ...headOf(request, clock.now()), body: request.body })
    const given = await inTime(receiving, 'receive() of the feedback source', RECEIVE_MS, clock)
    if (isReceipt(given)) return given
    throw wrongReturn('receive() of the feedback source', given, RECEIPT)
  })
}

function headOf({ headers, url }: OpenHead, now: number): FeedbackHead {
  return {
    header(field) {
      const value = headers[field]
      return typeof value === 'string' ? value : value?.join(', ')
    },
    url,
    now,
  }
}

const RECEIPT = "{ outcome: 'events', events, onceToken?, onceUntil?, onceAccount? } or { outcome: 'refused' }"

function isReceipt(given: unknown): given is FeedbackReceipt {
  const { outcome, events, onceToken = '', onceUntil = 0, onceAccount = '' } = Object(given)
  if (outcome === 'refused') return true
  const areTexts = [onceToken, onceAccount].every((text) => typeof text === 'string')
  return outcome === 'events' && Array.isArray(events) && areTexts && Number.isFinite(onceUntil)
}

/** Without detail: it would help to guess the proof. */
function refuseProof(name: string, { onRefused }: FeedbackDeps): Refused {
  onRefused(name)
  return refuse('proof_invalid', 'The request has no valid proof.')
}

/** Resolves to the reports that are stored now, and the number that is new. */
async function record(
  name: string,
  { tenant, channel }: FeedbackSource,
  receipt: Extract<FeedbackReceipt, { readonly outcome: 'events' }>,
  events: readonly FeedbackEvent[],
  deps: FeedbackDeps,
): Promise<{ readonly added: number; readonly reports: readonly NewFeedback[] }> {
  const { onceToken, onceUntil, onceAccount } = receipt
  const place = { name, tenant, channel }
  const stored = onceToken === undefined ? events : events.slice(0, MAX_ONCE)
  await resubscribe(stored, { tenant, channel }, deps)
  const reports = await recordableReports(stored, place, deps)
  const store = (batch: FeedbackBatch) => port('store_unavailable', () => deps.feedback.record(batch))
  if (onceToken !== undefined) {
    const spentBy = onceAccount === undefined ? [tenant, name] : [onceAccount]
    const digest = await sha256(JSON.stringify(['once', ...spentBy, onceToken]))
    const at = onceUntil ?? deps.clock.now()
    // The report has no tenant: the sources of one account may be of several.
    const once = { feedbackId: digest, tenant: '', channel, owner: `once:${digest}`, kind: 'unknown', at } as const
    const added = (await store({ feedback: reports, once })).length
    return { added, reports: added < reports.length ? await storedOnes(reports, deps) : reports }
  }
  let added = 0
  for (let at = 0; at < reports.length; at += BATCH) {
    added += (await store({ feedback: reports.slice(at, at + BATCH) })).length
  }
  return { added, reports }
}

/** Those that are stored: the proof of a repeated request, which counts once, does not cover the events. */
async function storedOnes(
  reports: readonly NewFeedback[],
  { feedback }: FeedbackDeps,
): Promise<readonly NewFeedback[]> {
  const stored = new Set<string>()
  for (let at = 0; at < reports.length; at += BATCH) {
    const found = await port('store_unavailable', () => feedback.find(reports.slice(at, at + BATCH)))
    for (const { feedbackId } of found) stored.add(feedbackId)
  }
  return reports.filter(({ feedbackId }) => stored.has(feedbackId))
}
