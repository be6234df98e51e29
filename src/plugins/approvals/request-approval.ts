import { port } from '../../core/answers/fault.ts'
import { isRefused, type Refused, refuse } from '../../core/answers/result.ts'
import { insufficientScope } from '../../core/authenticate.ts'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import { linksIn } from '../../core/links/fill-links.ts'
import { invalid } from '../../core/validate.ts'
import type { Issue } from '../../errors.ts'
import type { AnswerSchema } from '../../model/approval.ts'
import type { ApprovalRequest, ApprovalResult } from '../../model/approval-calls.ts'
import { writeInstant } from '../../model/instants.ts'
import type { JsonObject } from '../../model/json.ts'
import { withTimeout } from '../../model/time-out.ts'
import { wrongReturn } from '../../options/wrong-return.ts'
import { choicesSchema } from '../../pages/field-kinds.ts'
import type { PreparedDispatch } from '../plugin.ts'
import { actionDigest } from './action-digest.ts'
import { approvalKey, runHash, type StoredPrompt, type StoredTask, shortHash, taskKey } from './approval-records.ts'
import type { Asker } from './asker.ts'
import { type ApprovalEvent, LINKS, MAX_APPROVERS, MAX_EXPIRES_IN_MS } from './check-options.ts'
import type { ApprovalDeps } from './deps.ts'
import { findApproval, notFound } from './find-approval.ts'
import { checkAnswerSchema } from './schema/check-answer-schema.ts'
import { type StoredApproval, viewApproval } from './stored-approval.ts'

const MAX_ACTION_BYTES = 32_768
const LEAST_EXPIRES_IN_MS = 60_000
/** Longest wait for the host's function that names the approvers. */
const APPROVERS_MS = 5_000

/** Asks approvers: stores the approval together with the messages to them, once for each id. */
export async function requestApproval(
  { tenant, id: requester, quotas = [] }: Asker,
  asked: ApprovalRequest,
  deps: ApprovalDeps,
): Promise<ApprovalResult | Refused> {
  const { clock, ids, options } = deps
  const { sessionId, runId, message, action, eventType, approvalId = ids.next('apv') } = asked
  const rule = Object.hasOwn(options.events, eventType) ? options.events[eventType] : undefined
  if (!rule) return invalid([{ pointer: '/eventType', code: 'not_allowed', detail: 'asks for no approval' }])
  const issues = issuesOf(asked, rule)
  if (issues.length > 0) return invalid(issues)
  const digest = action && (await actionDigest(action))

  const isOfRequest = (stored: StoredApproval): boolean =>
    stored.digest === digest &&
    stored.runId === runId &&
    stored.eventType === eventType &&
    (digest !== undefined || stored.message === message)
  const known = await findApproval({ tenant, sessionId, approvalId }, deps)
  if (known) return replayed(known.body, isOfRequest)

  const approvers = await approversFor({ ...asked, tenant }, rule, deps)
  const { recipients = approvers } = asked
  const foreign = recipients.flatMap((recipient, at): Issue[] =>
    approvers.includes(recipient)
      ? []
      : [{ pointer: `/recipients/${at}`, code: 'not_allowed', detail: 'is no approver of this event' }],
  )
  if (foreign.length > 0)
    return { ...insufficientScope('The event does not allow every recipient to approve.'), errors: foreign }
  const { required = 1, maxExpiresInMs = MAX_EXPIRES_IN_MS } = rule
  const asks = [...new Set(recipients)]
  const all = [...new Set([...asks, ...(rule.reminders ?? []).flatMap(({ approvers = [] }) => approvers)])]
  if (all.length < required) {
    const detail = `${required} must accept, and only ${all.length} can be asked`
    return invalid([{ pointer: '/recipients', code: 'out_of_range', detail }])
  }

  const now = clock.now()
  const expiresInMs = asked.expiresInMs ?? maxExpiresInMs
  const schema = asked.choices ? choicesSchema(asked.choices) : (asked.schema as AnswerSchema | undefined)
  const draft: Draft = {
    ...{
      approvalId,
      sessionId,
      session: await shortHash(sessionId),
      runId,
      run: await runHash({ sessionId, runId }),
      eventType,
      requester,
      message,
    },
    ...(action && { action }),
    ...(digest !== undefined && { digest }),
    ...(schema && { schema }),
    ...{ approvers: all, required, createdAt: now, expiresAt: now + expiresInMs, answers: [] },
  }
  const prompts = await planPrompts({ tenant, quotas }, draft, asks, rule, deps)
  if (isRefused(prompts)) return prompts
  const stored = { ...draft, prompts: prompts.map(({ prepared }) => prepared.dispatchId) }
  return storeRequest(tenant, stored, prompts, isOfRequest, deps)
}

function issuesOf(
  { action, schema, choices, expiresInMs }: ApprovalRequest,
  { required = 1, maxExpiresInMs = MAX_EXPIRES_IN_MS }: ApprovalEvent,
): readonly Issue[] {
  const issues: Issue[] = []
  const size = action ? new TextEncoder().encode(canonicalJson(action)).length : 0
  if (size > MAX_ACTION_BYTES) {
    const detail = `has ${size} bytes as canonical JSON; at most ${MAX_ACTION_BYTES}, so that the page can show all of it`
    issues.push({ pointer: '/action', code: 'too_long', detail })
  }
  if (schema && choices) issues.push({ pointer: '/choices', code: 'conflict', detail: 'excludes schema' })
  if ((schema || choices) && required > 1) {
    const detail = `${required} must accept: their contents could differ`
    issues.push({ pointer: schema ? '/schema' : '/choices', code: 'not_allowed', detail })
  }
  if (schema) issues.push(...checkAnswerSchema(schema).map((one) => ({ ...one, pointer: `/schema${one.pointer}` })))
  if (choices)
    issues.push(
      ...checkAnswerSchema(choicesSchema(choices)).map((one) => ({
        ...one,
        pointer: one.pointer.replace('/properties/choice/enum', '/choices'),
      })),
    )
  if (expiresInMs !== undefined && (expiresInMs < LEAST_EXPIRES_IN_MS || expiresInMs > maxExpiresInMs)) {
    const detail = `expected ${LEAST_EXPIRES_IN_MS} to ${maxExpiresInMs} milliseconds`
    issues.push({ pointer: '/expiresInMs', code: 'out_of_range', detail })
  }
  return issues
}

function replayed(stored: StoredApproval, isOfRequest: (stored: StoredApproval) => boolean): ApprovalResult | Refused {
  if (isOfRequest(stored)) return { ...viewApproval(stored, true), replayed: true }
  return refuse('approval_conflict', 'The session has another approval of this id.')
}

const RECIPIENTS = `a list of 1 to ${MAX_APPROVERS} recipients, each of 1 to 2,048 characters`

/** Asks the host who may approve. */
function approversFor(
  { tenant, eventType, sessionId, runId, message, action }: ApprovalRequest & Pick<Asker, 'tenant'>,
  rule: ApprovalEvent,
  { clock }: Pick<ApprovalDeps, 'clock'>,
): Promise<readonly string[]> {
  const question = { tenant, eventType, sessionId, runId, message, ...(action && { action }) }
  return port(
    'directory_unavailable',
    async () => {
      const asking = Promise.resolve().then(() => rule.approvers(question))
      const given: unknown = await withTimeout(asking, { ms: APPROVERS_MS, clock })
      if (isRecipients(given)) return [...new Set(given)]
      throw wrongReturn(`approvers() of the event ${eventType}`, given, RECIPIENTS)
    },
    { eventType, runId },
  )
}

function isRecipients(given: unknown): given is readonly string[] {
  const isRecipient = (one: unknown): boolean => typeof one === 'string' && one.length >= 1 && one.length <= 2_048
  return Array.isArray(given) && given.length >= 1 && given.length <= MAX_APPROVERS && given.every(isRecipient)
}

/** An approval whose messages are not planned yet. */
type Draft = Omit<StoredApproval, 'prompts' | 'message'> & Pick<ApprovalRequest, 'message'>

/** A planned message to one approver. */
interface Prompt {
  readonly user: string
  readonly prepared: PreparedDispatch
}

/** Plans the questions and the reminders. Refuses if no question can be sent, or none has a link to answer. */
async function planPrompts(
  { tenant, quotas }: Required<Omit<Asker, 'id'>>,
  approval: Draft,
  asks: readonly string[],
  { reminders = [] }: ApprovalEvent,
  deps: ApprovalDeps,
): Promise<readonly Prompt[] | Refused> {
  const lastsMs = approval.expiresAt - approval.createdAt
  const later = reminders
    .filter(({ afterMs }) => afterMs < lastsMs)
    .flatMap(({ afterMs, approvers = asks }, at) =>
      approvers.map((user) => ({ user, delayMs: afterMs, reminder: at + 1 })),
    )
  const first = asks.map((user) => ({ user, delayMs: 0, reminder: undefined }))
  const prompts: (Prompt & { readonly isFirst: boolean })[] = []
  for (const { user, delayMs, reminder } of [...first, ...later]) {
    const request = {
      eventType: approval.eventType,
      recipient: user,
      sessionId: approval.sessionId,
      eventData: { approval: dataOf(approval, reminder) },
    }
    // The request counts once, however many messages it causes.
    const causedBy = { sessionId: approval.sessionId, quotas: prompts.length === 0 ? quotas : [] }
    const planned = await deps.plan(tenant, request, {
      causedBy,
      by: approval.requester,
      ...(delayMs > 0 && { delayMs }),
      expiresInMs: lastsMs - delayMs,
    })
    if ('preview' in planned) prompts.push({ user, prepared: planned, isFirst: delayMs === 0 })
    else if (planned.ok || planned.body.code !== 'recipient_unresolvable') return refusalOf(planned)
  }
  const contents = prompts
    .filter(({ isFirst }) => isFirst)
    .flatMap(({ prepared }) => prepared.preview.deliveries)
    .filter(({ status, reason }) => status === 'queued' || status === 'held' || reason === 'sandboxed')
    .map(({ content = {} }) => content)
  if (contents.length === 0) return refuse('approval_unreachable', 'No message can be sent to any of the approvers.')
  if (!contents.some((content) => linksIn(content, LINKS).length > 0))
    return refuse('approval_link_missing', `No message contains ${LINKS.map((name) => `links.${name}`).join(', ')}.`)
  return prompts
}

/** The data of a message that asks: `data.approval` in templates. */
export interface ApprovalData extends Pick<StoredApproval, 'approvalId' | 'sessionId' | 'runId' | 'requester'> {
  readonly message: string
  readonly action?: StoredApproval['action']
  readonly digest?: string
  /** RFC 3339. */
  readonly expiresAt: string
  /** Number of the reminder, from 1. Absent: the first message. */
  readonly reminder?: number
}

function dataOf(approval: Draft, reminder: number | undefined): JsonObject {
  const { approvalId, sessionId, runId, requester, message, action, digest, expiresAt } = approval
  const data: ApprovalData = {
    ...{ approvalId, sessionId, runId, requester, message },
    ...(action && { action }),
    ...(digest !== undefined && { digest }),
    expiresAt: writeInstant(expiresAt),
    ...(reminder !== undefined && { reminder }),
  }
  return data as unknown as JsonObject
}

function refusalOf(answer: Exclude<Awaited<ReturnType<ApprovalDeps['plan']>>, PreparedDispatch>): Refused {
  if (answer.ok) return refuse('internal_error', 'The request could not be handled.')
  const { code, detail, errors } = answer.body
  return refuse(code, detail, { ...(errors && { errors }), headers: answer.headers })
}

async function storeRequest(
  tenant: string,
  approval: StoredApproval,
  prompts: readonly Prompt[],
  isOfRequest: (stored: StoredApproval) => boolean,
  { records, commit }: ApprovalDeps,
): Promise<ApprovalResult | Refused> {
  const { sessionId, approvalId, expiresAt } = approval
  const key = await approvalKey(tenant, sessionId, approvalId)
  const expiry: StoredTask = { tenant, approval: key, task: 'expire', at: expiresAt }
  const users = await Promise.all(prompts.map(async ({ user }) => shortHash(user)))
  const stored = await port('store_unavailable', () =>
    commit({
      accept: prompts.map(({ prepared }) => prepared),
      changes: [
        records.approvals.insert(tenant, key, approval),
        records.tasks.insert('', taskKey(expiry, approval), expiry),
        ...prompts.map(({ user, prepared }, at) => {
          const prompt: StoredPrompt = { approval: key, user, userKey: users[at] ?? '', expiresAt }
          return records.prompts.insert(tenant, prepared.dispatchId, prompt)
        }),
      ],
    }),
  )
  if (stored.outcome === 'committed') return { ...viewApproval(approval, true), replayed: false }
  if (stored.outcome === 'refused') return refuse('grant_spent', 'The session token has asked as often as it may.')
  // A concurrent request of the same id was first.
  const [first] = await port('store_unavailable', () => records.approvals.find(tenant, [key]))
  return first ? replayed(first.body, isOfRequest) : notFound()
}
