import type { ActionRoute } from '../../src/core/endpoints.ts'
import { type OpenApiDocument, type OpenApiResponse, openapiDocument } from '../../src/openapi/index.ts'
import * as actions from '../support/actions.ts'
import type { ExampleHost } from './host.ts'

export interface Post {
  /** Default: the token of an application. `undefined` sends none. */
  readonly token?: string | undefined
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | ReadableStream
}

/** A valid request, with changes. */
export function requestTo(path: string, { method = 'POST', headers, body, ...rest }: Post = {}): Request {
  const token = 'token' in rest ? rest.token : 'app'
  return new Request(`http://shop.test${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(method === 'POST' && { body: body ?? '{}' }),
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })
}

export function post(host: ExampleHost, path: string, body: unknown, more: Post = {}): Promise<Response> {
  return host.fetch(requestTo(path, { ...more, body: JSON.stringify(body) }))
}

/** A JSON body with any fields. */
export async function jsonOf(answer: Response): Promise<Record<string, unknown>> {
  return (await answer.json()) as Record<string, unknown>
}

/** Name of an action that takes a post. */
export type PostName = 'dispatch' | 'session_run' | 'session_run_batch' | 'session_token'

export const ALL_POSTS: readonly (ActionRoute & { readonly name: PostName })[] = actions.ALL_POSTS as never

export function pathOf(action: string): string {
  const found = ALL_POSTS.find(({ name }) => name === action)
  if (!found) throw new Error(`no action ${action}`)
  return found.path
}

/** The response in the document, with its reference resolved. */
export function responseOf(document: OpenApiDocument, path: string, status: number): OpenApiResponse {
  const found = document.paths[path]?.post?.responses[status]
  if (!found) throw new Error(`${path} has no ${status}`)
  if (!('$ref' in found)) return found
  const shared = document.components.responses[found.$ref.split('/').at(-1) ?? '']
  if (!shared) throw new Error(`${found.$ref} points nowhere`)
  return shared
}

/** Names of the headers that a response may and must have. */
export function headersOf(document: OpenApiDocument, { headers }: OpenApiResponse): { may: string[]; must: string[] } {
  const names = Object.keys(headers)
  const must = names.filter((name) => document.components.headers[name]?.required)
  return { may: names.map((name) => name.toLowerCase()), must: must.map((name) => name.toLowerCase()) }
}

export const document: OpenApiDocument = openapiDocument()
