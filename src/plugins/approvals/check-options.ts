import type { ConfigProblem } from '../../errors.ts'
import type { ApprovalAction, ApprovalView } from '../../model/approval.ts'
import type { JsonObject } from '../../model/json.ts'
import { arrayOf, choice, fn, recordOf, whole } from '../../options/checks.ts'
import { type Check, type Checks, near, nested, required } from '../../options/read-options.ts'
import type { CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import { storedText } from '../../services/call-checks.ts'
import { type AnswerPageOptions, answerPageOptions } from './page/answer-page-options.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** A question whose approvers are to be named. */
export interface ApproversQuestion {
  readonly tenant: string
  readonly eventType: string
  readonly sessionId: string
  readonly runId: string
  readonly message: string
  readonly action?: ApprovalAction
}

/** A second message to approvers who have not answered. */
export interface ApprovalReminder {
  /** Milliseconds after the request, at least 60,000. One after the end of the approval's time is not sent. */
  readonly afterMs: number
  /** Recipients to remind, 1 to 50, who may then answer too. Default: those who were asked. */
  readonly approvers?: readonly string[]
}

/** How one event asks for approval. */
export interface ApprovalEvent {
  /** Recipients who may be asked, 1 to 50. The agent chooses among them, and may answer for none. */
  readonly approvers: (question: ApproversQuestion) => readonly string[] | Promise<readonly string[]>
  /** Number of approvers who must accept, 1 to 10. The first decline ends the approval. Default: 1. */
  readonly required?: number
  /**
   * What proves who answers on the page: `link`, the link of a message, or `session`, also the option `access` of `approvals`, which names the user
   * of the host. Default: `link`.
   */
  readonly proof?: 'link' | 'session'
  /** At most five. Default: none. */
  readonly reminders?: readonly ApprovalReminder[]
  /** Longest time for an answer in milliseconds, and the time of requests that name none: 60,000 to 30 days. Default: 7 days. */
  readonly maxExpiresInMs?: number
  /** Milliseconds after the acceptance until which the action can be used, 60,000 to 24 hours. Default: 1 hour. */
  readonly validForMs?: number
}

/** An event to dispatch when an approval ends. */
export interface AnsweredEvent {
  readonly eventType: string
  readonly recipient: string
  /** Default: `{ approval }`. */
  readonly eventData?: JsonObject
  /** Default: the channels of the event. */
  readonly channel?: string
}

/** An approval that has ended, and its tenant. */
export interface EndedApproval extends ApprovalView {
  readonly tenant: string
}

/** A user of the host. */
export interface SignedIn {
  /** As in `approvers`. */
  readonly user?: string | undefined
  /** The only tenant whose approvals the user may answer. Default: all. */
  readonly tenant?: string | undefined
}

/** Options of `approvals`. */
export interface ApprovalsOptions {
  /** Events that ask, by their names in the catalogue. Nothing else dispatches them. */
  readonly events: Readonly<Record<string, ApprovalEvent>>
  /**
   * Names the user of the host's own session, for events with `proof: 'session'`: the user must be an approver. It gets what the host's framework
   * gave: Express's `req`, Koa's context, a `Request` and the arguments after it. `undefined`, or without a user: nobody is signed in; also when it
   * throws, or is pending after ten seconds: then `onError` gets the error. The function of `createConsole` does for it, too.
   */
  readonly access?: (
    request: never,
    ...context: readonly never[]
  ) => SignedIn | string | undefined | Promise<SignedIn | string | undefined>
  /** The page of links. */
  readonly page?: AnswerPageOptions
  /**
   * Called for each approval that ends, also by a time-out: the event to dispatch once, or `undefined` for none. May be called again after a crash.
   * Default: none.
   */
  readonly answered?: (approval: EndedApproval) => AnsweredEvent | undefined
  /** Most requests of one process that wait for an answer at a time, shared fairly by tenants. 1 to 100,000. Default: 10,000. */
  readonly maxWaiting?: number
}

export const MAX_APPROVERS = 50
export const MAX_EXPIRES_IN_MS: number = 7 * DAY_MS
export const VALID_FOR_MS = 3_600_000
export const MAX_WAITING = 10_000

const approvers = arrayOf(storedText, 'must be a list of recipients', 1)

const atMost: Check = (value, given) =>
  Array.isArray(value) && value.length > MAX_APPROVERS
    ? `has ${value.length} recipients; at most ${MAX_APPROVERS}`
    : approvers(value, given)

const REMINDER: Checks<ApprovalReminder> = { afterMs: required(whole(MINUTE_MS, 30 * DAY_MS)), approvers: atMost }

const PROOFS = ['link', 'session'] as const

const EVENT: Checks<ApprovalEvent> = {
  approvers: required(fn, 'is undefined; must be a function that returns the recipients who may answer'),
  required: whole(1, 10),
  proof: choice(PROOFS),
  reminders: arrayOf(nested(REMINDER)),
  maxExpiresInMs: whole(MINUTE_MS, 30 * DAY_MS),
  validForMs: whole(MINUTE_MS, DAY_MS),
}

export const APPROVALS: Checks<ApprovalsOptions> = {
  events: required(recordOf(nested<ApprovalEvent>(EVENT, reminderProblems))),
  access: fn,
  page: answerPageOptions,
  answered: fn,
  maxWaiting: whole(1, 100_000),
}

const MAX_REMINDERS = 5

function reminderProblems({ reminders }: Readonly<Record<string, unknown>>): readonly ConfigProblem[] {
  const isMany = Array.isArray(reminders) && reminders.length > MAX_REMINDERS
  return isMany ? [{ field: 'reminders', detail: `has ${reminders.length} entries; at most ${MAX_REMINDERS}` }] : []
}

/** Names of the links of a message that asks. All lead to the page. */
export const LINKS: readonly string[] = ['answer', 'accept', 'decline']

/** Finds events that cannot ask for approval, and other events that read a link of approvals. */
export function approvalProblems(
  { events, access }: Pick<ApprovalsOptions, 'events' | 'access'>,
  catalogue: EventCatalog,
  hasLinks: boolean,
): readonly ConfigProblem[] {
  const names = Object.keys(events)
  return [
    ...(hasLinks || names.length === 0
      ? []
      : [{ detail: 'approvers answer by links: give the host the option links: { baseUrl, keys }' }]),
    ...names.flatMap((name): ConfigProblem[] => {
      const field = `events['${name}']`
      const event = catalogue.find(name)
      const isUnproved = events[name]?.proof === 'session' && !access
      const unproved = { field: `${field}.proof`, detail: 'is session: give approvals the option access' }
      if (event) return [...(isUnproved ? [unproved] : []), ...eventFaults(event).map((detail) => ({ field, detail }))]
      const detail = `is not among the events${near(name, catalogue.eventTypes)}; define it with defineEvents(…)`
      return [{ field, detail }]
    }),
    ...catalogue.eventTypes.flatMap((name): ConfigProblem[] => {
      const read = names.includes(name)
        ? undefined
        : catalogue.find(name)?.links?.find((link) => LINKS.includes(link.name))
      if (!read) return []
      const { name: link, ...place } = read
      return [
        { event: name, ...place, detail: `reads links.${link}: only messages of the events of approvals have one` },
      ]
    }),
  ]
}

function eventFaults({ critical, digest, channels }: CatalogEvent): readonly string[] {
  return [
    ...(channels.every(({ linkless }) => linkless)
      ? [`has no template with a link: write one of ${LINKS.map((name) => `links.${name}`).join(', ')} into a text`]
      : []),
    ...(critical ? [] : ['must be critical: true: quiet hours and preferences would hold back the question']),
    ...(digest ? ['must have no digest: several questions in one message could not be told apart'] : []),
  ]
}
