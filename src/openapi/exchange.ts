import type { Action } from '../core/endpoints.ts'
import type { JsonObject } from '../model/json.ts'

/** A request, and what a host answered. A test asks one again: these are what it says, word for word. */
export interface Exchange {
  readonly action: Action
  readonly name: string
  readonly summary: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  readonly request: JsonObject
  readonly status: number
  readonly answer: JsonObject
}
