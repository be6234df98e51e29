import { signal } from '@preact/signals'
import { withQuery } from './api.ts'
import { base } from './host.ts'

export interface Place {
  /** Parts of the path below the console, decoded: `['dispatches', 'dsp_1']`. */
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

export const place = signal<Place>(readPlace())

function readPlace(): Place {
  const { pathname, search } = location
  const local = pathname.startsWith(base) ? pathname.slice(base.length) : ''
  return { parts: local.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(search) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** A URL within the console. */
export function linkTo(parts: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  return withQuery(base + parts.map(encodeURIComponent).join('/'), query)
}

/** Goes to a URL. The focus moves to the heading, because what had it may be gone. */
function goTo(url: string): void {
  history.pushState(null, '', url)
  arrive()
  scrollTo(0, 0)
  document.querySelector('h1')?.focus({ preventScroll: true })
}

/** Changes the query: filters are in the address, so that a link shows the same. `stay`: the focus stays where it is. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>, focus: 'move' | 'stay' = 'move'): void {
  const { parts, query } = place.value
  const url = linkTo(parts, { ...Object.fromEntries(query), ...changes })
  if (focus === 'move') goTo(url)
  else {
    history.pushState(null, '', url)
    arrive()
  }
}

function arrive(): void {
  place.value = readPlace()
}

addEventListener('popstate', arrive)
addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (!link || link.origin !== location.origin || !link.pathname.startsWith(base) || link.target) return
  event.preventDefault()
  goTo(link.pathname + link.search)
})
