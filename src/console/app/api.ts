import { base } from './host.ts'
import type { Redacted } from './redacted.ts'

export interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** A refusal of the server (RFC 9457), or a failed connection. */
export interface Problem {
  /** 0: nothing answered. */
  readonly status: number
  readonly detail: string
  readonly code?: string
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[]
  /** The host grants this browser no access any more. */
  readonly isSignedOut?: true
  /** It answers a POST, which is not repeated by itself. */
  readonly isOfPost?: true
}

export interface Answer<T> {
  /** Absent with a problem, and if nothing has changed. */
  readonly data?: T
  readonly problem?: Problem
  readonly etag?: string | undefined
}

/** Reads a URL below `api/`. With the `etag` of an answer, an unchanged one costs no body. */
export function read<T>(path: string, signal: AbortSignal, etag?: string): Promise<Answer<T>> {
  return ask<T>(path, { signal, ...(etag !== undefined && { headers: { 'if-none-match': etag } }) })
}

/** Posts to a URL below `api/`, with the header that another site cannot send. */
export async function post<T>(path: string, body: object = {}): Promise<Answer<Redacted<T>>> {
  const headers = { 'content-type': 'application/json', 'x-sallyport-console': '1' }
  const answer = await ask<Redacted<T>>(path, { method: 'POST', headers, body: JSON.stringify(body) })
  return answer.problem ? { problem: { ...answer.problem, isOfPost: true } } : answer
}

async function ask<T>(path: string, init: RequestInit): Promise<Answer<T>> {
  try {
    const url = `${base}api/${path}`
    // A host may redirect to its login page, which is no answer.
    const response = await fetch(url, { ...init, cache: 'no-store', credentials: 'same-origin', redirect: 'manual' })
    const etag = response.headers.get('etag') ?? undefined
    if (response.status === 304) return { etag }
    if (response.type === 'opaqueredirect') return { problem: SIGNED_OUT }
    const body = await bodyOf(response)
    if (response.ok) return body === undefined ? { problem: SIGNED_OUT } : { data: body, etag }
    return { problem: problemOf(response.status, body, init.method === 'POST') }
  } catch {
    return { problem: { status: 0, detail: 'The server cannot be reached.' } }
  }
}

/** `undefined`: a page, or another text that no endpoint of the console answers. */
async function bodyOf(response: Response) {
  const isJson = /^application\/(?:problem\+)?json/.test(response.headers.get('content-type') ?? '')
  return isJson ? response.json() : undefined
}

const SIGNED_OUT: Problem = {
  status: 401,
  detail: 'Your session has ended, or you may not open the console any more.',
  isSignedOut: true,
}

function problemOf(status: number, body: Partial<Problem> | undefined, isPost: boolean): Problem {
  const detail = body?.detail ?? `The server answered ${status}.`
  // Without access, the console answers 404 to every path; a record that is gone has a detail of its own.
  const isGone = status === 404 && detail.startsWith('There is no such')
  const isRefused = status === 401 || (status === 403 && !isPost) || (status === 404 && !isGone)
  return isRefused ? SIGNED_OUT : { ...body, status, detail }
}

/** Adds the parameters that have a value to a path. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  const text = search.toString()
  return path + (text && `?${text}`)
}
