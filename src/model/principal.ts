import { isStorable } from './json.ts'
import type { RunEventLimit } from './run.ts'

/** An operation that a caller can request. `read` and `manage` are for applications only. */
export type Operation = 'dispatch' | 'session_run' | 'read' | 'manage' | 'approval'

export const OPERATIONS: readonly Operation[] = ['dispatch', 'session_run', 'read', 'manage', 'approval']

/** Operations of a principal that names none. */
const DEFAULT_OPERATIONS: readonly Operation[] = ['dispatch', 'session_run']

/** Operations that no principal of a session may request, whatever its verifier returns. */
const APPLICATION_OPERATIONS: readonly Operation[] = ['read', 'manage']

/** Dispatches that a session token allows: only listed values, compared exactly with those of the request. */
export interface DispatchGrant {
  readonly events: readonly string[]
  readonly channels: readonly string[]
  readonly recipients: readonly string[]
  /** Maximum events over the life of the token, 1 to 1,000. Refused requests and repeated idempotency keys do not count. */
  readonly maxDispatches?: number
}

/** Requests for approval that a session token allows. */
export interface ApprovalGrant {
  /** Events that may ask. */
  readonly events: readonly string[]
  /** Maximum requests over the life of the token, 1 to 1,000. Refused and repeated requests do not count. */
  readonly maxApprovals?: number
}

/** A session token from which another one was exchanged, with its limits. */
export interface ParentToken {
  /** Its `jti`. */
  readonly id: string
  /** Absent: its dispatches are not counted. */
  readonly maxDispatches?: number
  /** Absent: its requests for approval are not counted. */
  readonly maxApprovals?: number
  /** Default: 20. */
  readonly runEvents?: number
}

/** The authenticated caller, returned by an {@link AuthVerifier}. */
export interface Principal {
  /** Identifies the credential in logs and records, 1 to 200 visible ASCII characters; never the secret itself. */
  readonly id: string
  /** Scopes all stored and read data. `default` for a host with one tenant. */
  readonly tenant: string
  /** The only session that a session token can access. Absent: an application, which can access all sessions. */
  readonly sessionId?: string
  /** With a `sessionId`: the only user whose runs it can record. Absent: its runs name no user. */
  readonly userId?: string
  /** Allowed operations. Default: `dispatch` and `session_run`. `read` and `manage` are refused with a `sessionId`. */
  readonly operations?: readonly Operation[]
  /** With a `sessionId`: the allowed dispatches. Absent: none. */
  readonly dispatch?: DispatchGrant
  /** With a `sessionId`: the allowed requests for approval. Absent: none. */
  readonly approval?: ApprovalGrant
  /** With a `sessionId`: maximum run events that its posts may cause over the life of the token, 0 to 1,000. Default: 20. */
  readonly runEvents?: number
  /** With a `sessionId`: the only run that it can record. Absent: all runs of the session. */
  readonly runId?: string
  /**
   * With a `sessionId`: the tokens from which it was exchanged, nearest first, at most 8. Its dispatches, requests for approval and run
   * events are charged to it and to each of them. Absent: the host issued it.
   */
  readonly parents?: readonly ParentToken[]
  /**
   * With a `sessionId`: when the first token of its chain was issued, epoch milliseconds. A revocation by session or user covers it
   * unless it was issued later. Absent: such a revocation covers it.
   */
  readonly issuedAt?: number
  /**
   * With a `sessionId`: end of the token, epoch milliseconds, at most 24 hours and a minute ahead. A token exchanged from it never lives
   * longer. Name it: without it, counters of the token start again after 48 hours, and revocations end after a year (by `jti`) or 25
   * hours (by session or user).
   */
  readonly expiresAt?: number
}

/** Levels of exchange below a token that the host issued. */
export const MAX_LEVELS = 8

/** Run events that a token may cause if it names no number. */
export const DEFAULT_RUN_EVENTS = 20

/** Longest time until the end of a session token: a day, and a minute for clocks that differ. */
export const MAX_ENDS_IN_MS: number = 86_400_000 + 60_000

/** Counters of a token are kept as long. No session token lives longer than a day; some verifiers are lenient about its expiry. */
export const LONGEST_TOKEN_MS: number = 48 * 3_600_000

export const MOST_DISPATCHES = 1_000

export const MOST_APPROVALS = 1_000

export const MOST_RUN_EVENTS = 1_000

export function isMaxDispatches(value: unknown): value is number {
  return isWhole(value, 1, MOST_DISPATCHES)
}

export function isMaxApprovals(value: unknown): value is number {
  return isWhole(value, 1, MOST_APPROVALS)
}

/** Zero is valid: the token's posts cause no run event. */
export function isRunEvents(value: unknown): value is number {
  return isWhole(value, 0, MOST_RUN_EVENTS)
}

function isWhole(value: unknown, least: number, greatest: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= greatest
}

/** Operations that the core lets a principal request. */
export function operationsOf({ operations = DEFAULT_OPERATIONS, sessionId }: Principal): readonly Operation[] {
  if (sessionId === undefined) return operations
  return operations.filter((operation) => !APPLICATION_OPERATIONS.includes(operation))
}

/** Limits of the run events that posts of a session token cause: its own and those of its parents. */
export function runEventLimitsOf({ id, runEvents, parents = [] }: Principal): readonly RunEventLimit[] {
  return [{ id, runEvents }, ...parents].map(({ id: tokenId, runEvents: max = DEFAULT_RUN_EVENTS }) => ({
    tokenId,
    max,
  }))
}

/** The token that the host issued, at the top of a chain of exchanges: limits per credential count for it. */
export function rootIdOf({ id, parents }: Principal): string {
  return parents?.at(-1)?.id ?? id
}

/** Characters of a run id. Clients remove `.` and `..` from paths, so they could not be read. */
export const RUN_ID: RegExp = /^(?!\.\.?$)[A-Za-z0-9_.:-]+$/
export const RUN_ID_EXPECTED = 'expected only A-Z a-z 0-9 _ . : -, and not . or ..'

/** Characters of a session id, without `.` and `..` as well. */
export const SESSION_ID: RegExp = /^(?!\.\.?$)[!-~]+$/
export const SESSION_ID_EXPECTED = 'expected visible ASCII characters, and not . or ..'

/** True for a valid run id: 1 to 200 of `A-Z a-z 0-9 _ . : -`, and not `.` or `..`. */
export function isRunId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 200 && RUN_ID.test(value)
}

/** True for a valid session id: 1 to 200 visible ASCII characters, and not `.` or `..`. */
export function isSessionId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 200 && SESSION_ID.test(value)
}

const SCOPE = /^[\x21-\x7e]{1,200}$/

/** True for a valid id of a tenant, credential or key: 1 to 200 visible ASCII characters. */
export function isVisibleAscii(value: unknown): value is string {
  return typeof value === 'string' && SCOPE.test(value)
}

/** True for a valid user id: 1 to 200 characters that every store can keep. */
export function isUserId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 200 && isStorable(value)
}
