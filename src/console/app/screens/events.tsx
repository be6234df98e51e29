import { useState } from 'preact/hooks'
import type { EventView } from '../../../model/event-view.ts'
import type { Page } from '../api.ts'
import { DryRun } from '../dry-run.tsx'
import { List } from '../list.tsx'
import { Empty, Facts, Shown } from '../parts.tsx'
import { type Loaded, useRead } from '../reading.ts'
import { linkTo } from '../router.ts'
import { Screen } from '../screen.tsx'
import { count, duration } from '../words.ts'

export function EventsScreen({ eventType }: { readonly eventType: string | undefined }) {
  const read = useRead<Page<EventView>>('outbound/events', false)
  return eventType === undefined ? <Catalogue of={read} /> : <OneEvent of={read} eventType={eventType} />
}

/** Events that are listed at once. A catalogue can have thousands. */
const LISTED = 100

function Catalogue({ of: { data, ...state } }: { readonly of: Loaded<Page<EventView>> }) {
  const [name, setName] = useState('')
  const all = data?.items ?? []
  const found = all.filter(({ eventType, category }) => eventType.includes(name) || category.includes(name))
  return (
    <Screen title="Events">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label htmlFor="event-name">
          Name or category
          <input
            id="event-name"
            type="search"
            value={name}
            onInput={(event) => setName(event.currentTarget.value.trim())}
          />
        </label>
        <p class="found" role="status">
          {found.length > LISTED && `The first ${LISTED} of ${count(found.length)} events: type a name to see others.`}
        </p>
      </form>
      <List
        of={{ ...state, ...(data && { data: { items: found.slice(0, LISTED) } }) }}
        label="Events"
        empty="No event has such a name."
        keyOf={(event) => event.eventType}
        columns={[
          { head: 'Event', cell: (event) => <a href={linkTo(['events', event.eventType])}>{event.eventType}</a> },
          { head: 'Category', cell: ({ category }) => category },
          { head: 'Channels', cell: ({ channels }) => channels.map(({ channel }) => channel).join(', ') },
          { head: 'Route', cell: ({ route }) => (route === 'first' ? 'first that works' : 'all') },
          { head: 'Critical', cell: ({ critical }) => (critical ? 'yes' : '') },
        ]}
      />
    </Screen>
  )
}

function OneEvent({ of, eventType }: { readonly of: Loaded<Page<EventView>>; readonly eventType: string }) {
  return (
    <Screen title={`Event ${eventType}`}>
      <Shown of={of}>
        {({ items }) => {
          const event = items.find((one) => one.eventType === eventType)
          if (!event)
            return <Empty>The catalogue has no such event. Its name may have changed: see the list of events.</Empty>
          return (
            <>
              <EventFacts of={event} />
              <DryRun eventType={eventType} />
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}

function EventFacts({ of }: { readonly of: EventView }) {
  const { eventType, category, route, critical, delayMs, digest, channels } = of
  return (
    <Facts
      of={{
        Category: category,
        Route: route === 'first' ? 'first channel that works' : 'all channels',
        Critical: critical && 'preferences and quiet hours do not apply',
        Delay: delayMs !== undefined && duration(delayMs),
        Digest: digest && `${duration(digest.windowMs)}, at most ${count(digest.max)} events`,
        Channels: channels
          .map(({ channel, isConditional }) => (isConditional ? `${channel} (conditional)` : channel))
          .join(', '),
        Dispatches: <a href={linkTo(['dispatches'], { eventType })}>show</a>,
      }}
    />
  )
}
