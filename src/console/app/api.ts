import { useEffect, useState } from 'preact/hooks'
import { base } from './host.ts'

export interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** A refusal of the server (RFC 9457), or a failed connection. */
export interface Problem {
  readonly status: number
  readonly detail: string
  readonly code?: string
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[]
}

export interface Loaded<T> {
  readonly data?: T
  readonly problem?: Problem
}

const EVERY_MS = 2_000

/** Reads a URL below `api/`, again every two seconds while the page is visible; an unchanged answer costs no body. */
export function useRead<T>(path: string | undefined, isPolled = true): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T> & { readonly path?: string | undefined }>({})
  useEffect(() => {
    if (path === undefined) return
    const stopped = new AbortController()
    let etag: string | undefined
    let timer: ReturnType<typeof setTimeout> | undefined

    async function read(): Promise<void> {
      const answer = await ask<T>(path ?? '', {
        signal: stopped.signal,
        ...(etag && { headers: { 'if-none-match': etag } }),
      })
      if (stopped.signal.aborted) return
      if (answer.problem)
        setLoaded((before) => ({ ...(before.path === path && before), path, problem: answer.problem as Problem }))
      else if (answer.data !== undefined) setLoaded({ path, data: answer.data })
      else setLoaded((before) => (before.problem ? withoutProblem(before) : before))
      etag = answer.etag ?? etag
      // One timer, also if the page was hidden and shown during this read.
      clearTimeout(timer)
      if (isPolled && !document.hidden) timer = setTimeout(read, EVERY_MS)
    }

    function onVisibility(): void {
      clearTimeout(timer)
      if (!document.hidden) void read()
    }

    if (!document.hidden) void read()
    if (isPolled) document.addEventListener('visibilitychange', onVisibility)
    return () => {
      stopped.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisibility)
    }
  }, [path, isPolled])
  return loaded.path === path ? loaded : {}
}

function withoutProblem<T extends { readonly problem?: Problem }>({ problem: _, ...rest }: T): Omit<T, 'problem'> {
  return rest
}

/** Posts to a URL below `api/`, with the header that another site cannot send. */
export function post<T>(path: string, body: object = {}): Promise<Answer<T>> {
  const headers = { 'content-type': 'application/json', 'x-sallyport-console': '1' }
  return ask<T>(path, { method: 'POST', headers, body: JSON.stringify(body) })
}

interface Answer<T> extends Loaded<T> {
  readonly etag?: string | undefined
}

async function ask<T>(path: string, init: RequestInit): Promise<Answer<T>> {
  try {
    const response = await fetch(`${base}api/${path}`, { ...init, cache: 'no-store', credentials: 'same-origin' })
    const etag = response.headers.get('etag') ?? undefined
    if (response.status === 304) return { etag }
    const body = await response.json()
    return response.ok
      ? { data: body, etag }
      : { problem: { detail: 'The server gave no reason.', ...body, status: response.status } }
  } catch {
    return { problem: { status: 0, detail: 'The server cannot be reached. The console tries again.' } }
  }
}

/** Adds the parameters that have a value to a path. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  const text = search.toString()
  return path + (text && `?${text}`)
}
