import type { JsonObject } from '../model/json.ts'

/** Additions to a converted schema: descriptions, and rules that a function checks. */
export interface Notes<T> {
  readonly about: JsonObject
  readonly fields: { readonly [Field in keyof T]-?: JsonObject }
}
