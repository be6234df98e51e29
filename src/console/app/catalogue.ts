import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { EventView } from '../../model/event-view.ts'
import { type Page, read } from './api.ts'
import { host } from './host.ts'
import type { Redacted } from './redacted.ts'
import { textOf } from './words.ts'

/** Names that the catalogue of events knows, by the filter that takes them. */
type KnownNames = Readonly<Record<string, readonly string[]>>

const names = signal<KnownNames>({ eventType: [], channel: [] })
let isAsked = false

/**
 * Names for the completion of a field, read once: a new event is known after the page is loaded again.
 *
 * @param filter Its name. The catalogue is read only if it has names for it.
 */
export function useKnownNames(filter: string): readonly string[] {
  useEffect(() => {
    if (isAsked || !Object.hasOwn(names.value, filter) || !host.offers.has('list_events')) return
    isAsked = true
    void load()
  }, [filter])
  return Object.hasOwn(names.value, filter) ? (names.value[filter] ?? []) : []
}

async function load(): Promise<void> {
  const { data } = await read<Page<Redacted<EventView>>>('outbound/events', new AbortController().signal)
  if (!data) return
  const channels = data.items.flatMap((event) => event.channels.map(({ channel }) => textOf(channel)))
  names.value = {
    eventType: data.items.map(({ eventType }) => textOf(eventType)),
    channel: [...new Set(channels)].sort(),
  }
}
