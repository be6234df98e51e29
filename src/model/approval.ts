import type { JsonObject, JsonValue } from './json.ts'

/**
 * Status of an approval: `open`, then one of the others for ever. `expired`: nobody decided in time, which is no decline. `cancelled`: the
 * requester withdrew it.
 */
export type ApprovalStatus = 'open' | 'accepted' | 'declined' | 'expired' | 'cancelled'

/** An action that an agent wants to do: the name of a tool and its arguments, exactly as it will call it. */
export interface ApprovalAction {
  readonly name: string
  readonly args: JsonObject
}

/** A text. */
export interface TextField {
  readonly type: 'string'
  readonly title?: string
  readonly description?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly format?: 'email' | 'uri' | 'date' | 'date-time'
  readonly default?: string
}

/** A number. */
export interface NumberField {
  readonly type: 'number' | 'integer'
  readonly title?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: number
}

/** Yes or no. */
export interface FlagField {
  readonly type: 'boolean'
  readonly title?: string
  readonly description?: string
  readonly default?: boolean
}

/** One of some texts: those of `enum`, or each `const` of `oneOf`, which is shown by its `title`. */
export interface ChoiceField {
  readonly type: 'string'
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly oneOf?: readonly { readonly const: string; readonly title: string }[]
  readonly default?: string
}

/** Some of some texts. */
export interface ChoicesField {
  readonly type: 'array'
  readonly title?: string
  readonly description?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly items:
    | { readonly type: 'string'; readonly enum: readonly string[] }
    | { readonly anyOf: readonly { readonly const: string; readonly title: string }[] }
  readonly default?: readonly string[]
}

/** A field of an answer. */
export type AnswerField = TextField | NumberField | FlagField | ChoiceField | ChoicesField

/**
 * The flat JSON Schema of elicitation in the Model Context Protocol, revision 2025-11-25: an object of at most 20 texts, numbers, flags and
 * choices.
 */
export interface AnswerSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, AnswerField>>
  readonly required?: readonly string[]
}

/** Content of an answer: a value of each field of the schema. */
export type AnswerContent = Readonly<Record<string, JsonValue>>

/**
 * Proof of who answers: the link of a message; the link and the session of a user of the host; a user of the console; or the word of an
 * application.
 */
export type AnswerProof = 'link' | 'session' | 'console' | 'application'

/** An answer of one approver. */
export interface ApprovalAnswer {
  /** As in `approvers`. After an erasure: `erased`. */
  readonly user: string
  readonly answer: 'accept' | 'decline'
  readonly proof: AnswerProof
  /** RFC 3339. */
  readonly answeredAt: string
  readonly comment?: string
  /** With `accept` and a schema. */
  readonly content?: AnswerContent
}

/** An approval in a view of its run. Instants are RFC 3339. */
export interface RunApproval {
  readonly approvalId: string
  readonly status: ApprovalStatus
  readonly eventType: string
  readonly expiresAt: string
}

/** Public view of an approval. Instants are RFC 3339. */
export interface ApprovalView {
  readonly approvalId: string
  readonly sessionId: string
  readonly runId: string
  readonly eventType: string
  readonly status: ApprovalStatus
  /** Id of the credential that asked; `host`: this process. */
  readonly requester: string
  /** Recipients who may answer. */
  readonly approvers: readonly string[]
  /** Number of approvers who must accept. */
  readonly required: number
  /** SHA-256 of the canonical JSON (RFC 8785) of `{ name, args }`, hex. Absent: the request named no action. */
  readonly digest?: string
  /** Only if it is read alone, or with `content: true`. */
  readonly message?: string
  /** Only if it is read alone, or with `content: true`. */
  readonly action?: ApprovalAction
  /** Schema of what an answer contains. Absent: nothing. */
  readonly schema?: AnswerSchema
  /** In the order of time. */
  readonly answers: readonly ApprovalAnswer[]
  readonly createdAt: string
  readonly expiresAt: string
  /** Absent while it is `open`. */
  readonly endedAt?: string
  /** The one use of the accepted action. Absent: not used. */
  readonly consumed?: { readonly useId: string; readonly consumedAt: string }
}
