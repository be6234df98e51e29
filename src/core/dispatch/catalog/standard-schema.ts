import type { JsonObject } from '../../../model/json.ts'

/** A schema of any library that follows Standard Schema v1 (valibot, zod, arktype, …), as far as it is read here. */
export interface StandardSchema<Input = unknown, Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** What a schema takes; any object where there is none. */
export type InputOf<Schema> = Schema extends StandardSchema
  ? NonNullable<Schema['~standard']['types']>['input']
  : JsonObject

/** What a schema gives out; any object where there is none. */
export type OutputOf<Schema> = Schema extends StandardSchema
  ? NonNullable<Schema['~standard']['types']>['output']
  : JsonObject

/** What such a schema says of a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** One fault that it found. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
