import { useEffect, useState } from 'preact/hooks'
import { type Page, type Problem, read } from './api.ts'
import type { Redacted } from './redacted.ts'

export interface Loaded<T> {
  readonly data?: T
  readonly problem?: Problem
  /** True until the first answer of a path. The data of the path before stays until then. */
  readonly isLoading?: boolean
}

const EVERY_MS = 2_000
const SLOWEST_MS = 60_000

/** Pause before the next read. It doubles with each failure in a row, to spare a server that fails. */
function pauseAfter(failures: number): number {
  return Math.min(EVERY_MS * 2 ** failures, SLOWEST_MS)
}

type Kept<T> = Loaded<T> & { readonly path?: string | undefined }

/**
 * Reads a URL below `api/`, again every two seconds; an unchanged answer costs no body. A hidden page stops a read under way and asks for
 * nothing until it is shown.
 */
export function useRead<T>(path: string | undefined): Loaded<Redacted<T>> {
  return useAnswer(path)
}

/** Reads a page of a list in the same way. Its cursor is not redacted. */
export function usePage<T>(path: string | undefined): Loaded<Page<Redacted<T>>> {
  return useAnswer(path)
}

function useAnswer<T>(path: string | undefined): Loaded<T> {
  const [kept, keep] = useState<Kept<T>>({})
  useEffect(() => {
    if (path === undefined) return
    const wanted = path
    let stopped = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let etag: string | undefined
    let failures = 0
    let isDone = false

    async function next(): Promise<void> {
      const { signal } = stopped
      const answer = await read<T>(wanted, signal, etag)
      if (signal.aborted) return
      etag = answer.etag ?? etag
      failures = answer.problem ? failures + 1 : 0
      keep((before) => after(before, wanted, answer))
      // The same query is refused again.
      isDone = answer.problem?.status === 422
      if (!isDone) timer = setTimeout(next, pauseAfter(failures))
    }

    function stop(): void {
      clearTimeout(timer)
      stopped.abort()
    }

    function onVisibility(): void {
      stop()
      stopped = new AbortController()
      if (!document.hidden && !isDone) void next()
    }

    onVisibility()
    const unwatch = watchVisibility(onVisibility)
    return () => {
      stop()
      unwatch()
    }
  }, [path])
  return kept.path === path ? kept : { ...(kept.data !== undefined && { data: kept.data }), isLoading: true }
}

/** State after an answer: with a problem, the data that this path had before; without a change, the same object. */
function after<T>(before: Kept<T>, path: string, { data, problem }: Loaded<T>): Kept<T> {
  const own = before.path === path ? before : {}
  if (problem) return { path, problem, ...(own.data !== undefined && { data: own.data }) }
  if (data !== undefined) return { path, data }
  return own.problem && own.data !== undefined ? { path, data: own.data } : before
}

/** Whether the page is visible. A hidden page asks for nothing. */
export function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden)
  useEffect(() => watchVisibility(() => setVisible(!document.hidden)), [])
  return isVisible
}

/** Calls `onChange` when the page is hidden or shown, until the returned function is called. */
function watchVisibility(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange)
  return () => document.removeEventListener('visibilitychange', onChange)
}
