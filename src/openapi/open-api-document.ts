import type { JsonObject, JsonValue } from '../model/json.ts'

/** A JSON Schema of draft 2020-12, the dialect of OpenAPI 3.1. */
export type OpenApiSchema = JsonObject

/** Points to one of the document's `components`. */
export interface OpenApiReference {
  readonly $ref: string
}

/** An example of a request or an answer. */
export interface OpenApiExample {
  readonly summary: string
  readonly value: JsonValue
}

/** A body with its examples. */
export interface OpenApiMediaType {
  readonly schema: OpenApiSchema
  readonly examples?: Readonly<Record<string, OpenApiExample | OpenApiReference>>
}

/** A header of an answer. */
export interface OpenApiHeader {
  readonly description: string
  readonly required?: boolean
  readonly schema: OpenApiSchema
}

/** A parameter of a request. */
export interface OpenApiParameter {
  readonly name: string
  readonly in: 'header' | 'query' | 'path'
  readonly description: string
  readonly required?: true
  readonly schema: OpenApiSchema
  readonly example?: JsonValue
}

/** An answer of one status. */
export interface OpenApiResponse {
  readonly description: string
  readonly headers: Readonly<Record<string, OpenApiReference>>
  /** Absent: an answer without a body. */
  readonly content?: Readonly<Record<string, OpenApiMediaType>>
}

/** The body of a request. */
export interface OpenApiRequestBody {
  readonly description: string
  readonly required: boolean
  readonly content: Readonly<Record<string, OpenApiMediaType>>
}

/** One operation of an endpoint. */
export interface OpenApiOperation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly parameters: readonly (OpenApiReference | OpenApiParameter)[]
  /** Absent: the operation takes no body. */
  readonly requestBody?: OpenApiRequestBody
  /** By status. */
  readonly responses: Readonly<Record<string, OpenApiResponse | OpenApiReference>>
}

/** The operations of one path, by method. */
export interface OpenApiPath {
  readonly get?: OpenApiOperation
  readonly post?: OpenApiOperation
}

/** A server of the endpoints. */
export interface OpenApiServer {
  /** Base URL of `/api/…`. */
  readonly url: string
  readonly description?: string
}

/** Authentication of callers. */
export interface OpenApiSecurityScheme {
  readonly type: 'http'
  readonly scheme: 'bearer'
  readonly description: string
}

/** Named parts that references point to. */
export interface OpenApiComponents {
  readonly securitySchemes: Readonly<Record<string, OpenApiSecurityScheme>>
  readonly parameters: Readonly<Record<string, OpenApiParameter>>
  readonly headers: Readonly<Record<string, OpenApiHeader>>
  readonly responses: Readonly<Record<string, OpenApiResponse>>
  readonly examples: Readonly<Record<string, OpenApiExample>>
  readonly schemas: Readonly<Record<string, OpenApiSchema>>
}

/** An OpenAPI 3.1 document in plain JSON, with the parts of the format that Sallyport uses. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1'
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly OpenApiServer[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  /** Required by every operation. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  /** By path, relative to the server's URL. */
  readonly paths: Readonly<Record<string, OpenApiPath>>
  readonly components: OpenApiComponents
}
