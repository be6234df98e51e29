import { SIGNAL_CHECKS } from '../../client/caller.ts'
import { checkOptions } from '../../client/check-options.ts'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { AnswerContent, ApprovalAction, ApprovalStatus, ApprovalView } from '../../model/approval.ts'
import type { ApprovalMethods, ConsumedApproval } from '../../model/approval-calls.ts'
import { type JsonObject, toJson } from '../../model/json.ts'
import { sha256 } from '../../model/sha256.ts'
import { arrayOf, bool, fn, has, matching, whole, word } from '../../options/checks.ts'
import { type Checks, isRecord, required } from '../../options/read-options.ts'
import { untypedMembers } from '../untyped.ts'

/** A call of a tool that an agent wants to make. */
export interface AgentToolCall extends ApprovalAction {
  /** Id of the call in its run, as the SDK gives it. */
  readonly id: string
}

/** Options of the agent of one run that asks people. */
export interface AgentApprovalOptions {
  /** The session of the approvals: 1-200 visible ASCII characters. */
  readonly sessionId: string
  /** The run that asks, and that continues after the answer: 1-200 of `A-Z a-z 0-9 _ . : -`. Another run asks anew. */
  readonly runId: string
  /** The event that asks, or a function that gives it for a tool call. `undefined`: the call needs no approval. */
  readonly eventType: string | ((call: AgentToolCall) => string | undefined)
  /** The question for a tool call, 1-4,000 characters. Default: `May the agent call <tool>?` The page shows the arguments too. */
  readonly message?: ((call: AgentToolCall) => string) | undefined
  /** Approvers to ask. Default: all of the event. */
  readonly recipients?: readonly string[] | undefined
  /** Milliseconds until a question expires, at least 60,000. Default: the maximum of the event. */
  readonly expiresInMs?: number | undefined
  /** Longest wait for an answer in milliseconds, 0 to 30 days. Default: until the question has ended. */
  readonly waitMs?: number | undefined
  /** Ends a wait early. */
  readonly signal?: AbortSignal | undefined
  /**
   * `true`: refuses an action that this call has taken before, also if a crash came before it was done. Default: `false`, for tools that may be
   * called again with the same id.
   */
  readonly once?: boolean | undefined
  /** Only with `sallyport.approvals`: a client's secret names its tenant. Default: `default`. */
  readonly tenant?: string | undefined
}

/** Options of the adapters whose agents read what an acceptance contains. */
export interface AgentAnswerOptions extends AgentApprovalOptions {
  /** The flat JSON Schema of what an acceptance contains; its `$schema` and `additionalProperties` are left out. Default: nothing. */
  readonly schema?: JsonObject | undefined
}

/** The outcome of the question about a tool call. */
export interface ApprovalOutcome {
  readonly toolCallId: string
  readonly approvalId: string
  /** The action is taken for this call, and may be done now. */
  readonly approved: boolean
  /** `expired`: nobody answered in time, which is no decline. `open`: nobody has answered yet. */
  readonly status: ApprovalStatus
  /** A sentence for the model. It names no approver. */
  readonly reason: string
  /** `false`: the call has taken the action before, such as before a crash. Absent: it has not taken it. */
  readonly first?: boolean
  /** Content of the acceptance. Absent: the question has no schema, or is not accepted. */
  readonly content?: AnswerContent
}

/** Asks about tool calls of one run. */
export interface Asker {
  /** Asks once for each call, and gives the question. `undefined`: the call needs no approval. */
  ask(call: AgentToolCall): Promise<ApprovalView | undefined>
  /** Waits for the end of a question, and gives its status. */
  end(approvalId: string): Promise<ApprovalStatus>
  /**
   * Waits for the end of a question, and takes the action if it is accepted.
   *
   * @param signal Ends the wait early. Default: that of the options.
   */
  take(call: AgentToolCall, asked: ApprovalView, signal?: AbortSignal): Promise<ApprovalOutcome>
  /**
   * Takes the actions of all calls, for each of which {@link Asker.take} may follow when it is done. Asks about all before it waits for any. Calls
   * that need no approval have no outcome.
   */
  takeAll(calls: readonly AgentToolCall[]): Promise<readonly ApprovalOutcome[]>
}

const METHODS: Checks<{ approvals: ApprovalMethods }> = {
  approvals: required(has('sallyport.approvals or createApprovalClient(…)', 'request', 'wait', 'consume')),
}

const MONTH_MS = 30 * 86_400_000

export const APPROVAL_OPTIONS: Checks<AgentApprovalOptions> = {
  ...SIGNAL_CHECKS,
  sessionId: required(word),
  runId: required(word),
  eventType: required(
    matching(
      (value) => typeof value === 'function' || (typeof value === 'string' && value !== ''),
      'must name an event',
    ),
  ),
  message: fn,
  recipients: arrayOf(word, 'must be a list of recipients'),
  expiresInMs: whole(60_000, MONTH_MS),
  waitMs: whole(0, MONTH_MS),
  once: bool,
  tenant: word,
}

export const ANSWER_OPTIONS: Checks<AgentAnswerOptions> = {
  ...APPROVAL_OPTIONS,
  schema: matching(isRecord, 'must be an object'),
}

/** @throws {ClientError} `option_invalid`, with all problems of the methods or of the options. */
export function askerOf<Options extends AgentAnswerOptions>(
  adapter: string,
  approvals: ApprovalMethods,
  options: Options,
  checks: Checks<Options>,
  defaults: Pick<AgentApprovalOptions, 'once' | 'waitMs'> = {},
): Asker {
  checkOptions(adapter, { approvals }, METHODS)
  checkOptions(adapter, options, checks)
  const { sessionId, runId, eventType, recipients, expiresInMs, tenant } = options
  const { waitMs = defaults.waitMs, once = defaults.once ?? false } = options
  const { message = ({ name }: AgentToolCall) => `May the agent call ${name}?` } = options
  const schema = options.schema && answerSchema(options.schema)
  /** Approvals that `takeAll` has taken, and that `take` may pass on once. */
  const held = new Set<string>()
  const scope = { sessionId, ...(tenant !== undefined && { tenant }) }

  async function ask(call: AgentToolCall): Promise<ApprovalView | undefined> {
    const event = typeof eventType === 'string' ? eventType : eventType(call)
    if (event === undefined) return undefined
    return approvals.request({
      ...{ ...scope, runId, eventType: event, message: message(call), action: actionOf(call) },
      approvalId: await approvalIdOf(runId, call),
      ...(schema && { schema }),
      ...(recipients && { recipients }),
      ...(expiresInMs !== undefined && { expiresInMs }),
    })
  }

  const wait = (approvalId: string, signal = options.signal): Promise<ApprovalView> =>
    approvals.wait({ ...scope, approvalId, waitMs, signal })

  async function take(call: AgentToolCall, asked: ApprovalView, signal?: AbortSignal): Promise<ApprovalOutcome> {
    const { approvalId } = asked
    const ended = asked.status === 'open' ? await wait(approvalId, signal) : asked
    const outcome = { toolCallId: call.id, approvalId, status: ended.status, reason: reasonOf(ended) }
    if (ended.status !== 'accepted') return { ...outcome, approved: false }
    const use = await consume({ ...scope, approvalId, action: actionOf(call), useId: approvalId })
    if ('refused' in use) return { ...outcome, approved: false, reason: `A person accepted, but ${use.refused}` }
    const first = use.first || held.delete(approvalId)
    if (once && !first) return { ...outcome, approved: false, first, reason: 'This call has taken the action before.' }
    const content = ended.answers.find(({ answer }) => answer === 'accept')?.content
    return { ...outcome, approved: true, first, ...(content && { content }) }
  }

  async function consume(
    use: Parameters<ApprovalMethods['consume']>[0],
  ): Promise<ConsumedApproval | { readonly refused: string }> {
    try {
      return await approvals.consume(use)
    } catch (error) {
      const refused = REFUSALS[String(untypedMembers(error).code)]
      if (refused === undefined) throw error
      return { refused }
    }
  }

  async function takeAll(calls: readonly AgentToolCall[]): Promise<readonly ApprovalOutcome[]> {
    const asked = await Promise.all(calls.map(async (call) => ({ call, view: await ask(call) })))
    const taken = await Promise.all(asked.map(({ call, view }) => view && take(call, view)))
    const outcomes = taken.filter((outcome) => outcome !== undefined)
    for (const { approved, approvalId } of outcomes) if (approved) held.add(approvalId)
    return outcomes
  }

  return { ask, end: async (approvalId) => (await wait(approvalId)).status, take, takeAll }
}

/** Refusals of an accepted action that are an outcome for the agent. All others are faults. */
const REFUSALS: Readonly<Record<string, string>> = {
  approval_ended: 'the time to do it is over.',
  approval_consumed: 'it has been done already.',
}

function actionOf({ name, args }: ApprovalAction): ApprovalAction {
  return { name, args }
}

export function isSameAction(one: ApprovalAction, other: ApprovalAction): boolean {
  return canonicalJson(actionOf(one)) === canonicalJson(actionOf(other))
}

/**
 * The id of the question about a call, which is the id of its use too. It depends on the action, so that a call id that comes again with other
 * arguments or another tool is another question; the digest of the action depends on no id.
 */
async function approvalIdOf(runId: string, { id, ...action }: AgentToolCall): Promise<string> {
  const digest = await sha256(canonicalJson([runId, id, actionOf(action)]))
  return `call-${digest.slice(0, 40)}`
}

/** JSON of the arguments of a tool, as people see it. Arguments that are no object are shown as `input`. */
export function argsOf(input: unknown): JsonObject {
  const json = toJson(input ?? {})
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
  if (isObject) return json as JsonObject
  return json === undefined ? {} : { input: json }
}

/** {@link argsOf} a text of JSON. A text that is none is shown as `input`. */
export function argsIn(text: unknown): JsonObject {
  try {
    return argsOf(JSON.parse(String(text)))
  } catch {
    return argsOf(text)
  }
}

/** The schema without the members that libraries add to every schema. */
function answerSchema({ $schema, additionalProperties, ...schema }: JsonObject): JsonObject {
  return schema
}

const NOBODY: Readonly<Record<Exclude<ApprovalStatus, 'accepted' | 'declined'>, string>> = {
  open: 'Nobody has answered yet.',
  expired: 'Nobody answered in time, and nobody declined.',
  cancelled: 'The question was withdrawn, and nobody declined.',
}

function reasonOf({ status, answers }: ApprovalView): string {
  if (status !== 'accepted' && status !== 'declined') return NOBODY[status]
  const comments = answers.flatMap(({ answer, comment }) =>
    comment !== undefined && (answer === 'accept') === (status === 'accepted') ? [comment] : [],
  )
  return [`A person ${status} it`, ...comments].join(': ') + (comments.length > 0 ? '' : '.')
}
