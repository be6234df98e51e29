import { useState } from 'preact/hooks'
import type { EventView } from '../../../model/event-view.ts'
import type { Page } from '../api.ts'
import { DryRun } from '../dry-run.tsx'
import { List } from '../list.tsx'
import { Empty, Facts, Link, Shown } from '../parts.tsx'
import { type Loaded, usePage } from '../reading.ts'
import type { Redacted } from '../redacted.ts'
import { Screen } from '../screen.tsx'
import { count, duration, joined, textOf, worded } from '../words.ts'

type Event = Redacted<EventView>

export function EventsScreen({ eventType }: { readonly eventType: string | undefined }) {
  const read = usePage<EventView>('outbound/events')
  return eventType === undefined ? <Catalogue of={read} /> : <OneEvent of={read} eventType={eventType} />
}

/** Events that are listed at once. A catalogue can have thousands. */
const LISTED = 100

function Catalogue({ of: { data, ...state } }: { readonly of: Loaded<Page<Event>> }) {
  const [name, setName] = useState('')
  const all = data?.items ?? []
  const found = all.filter(({ eventType, category }) =>
    [eventType, category].some((text) => textOf(text).includes(name)),
  )
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
        keyOf={(event) => textOf(event.eventType)}
        columns={[
          { head: 'Event', cell: (event) => <Link to={['events', event.eventType]} /> },
          { head: 'Category', cell: ({ category }) => textOf(category) },
          { head: 'Channels', cell: ({ channels }) => channels.map(({ channel }) => textOf(channel)).join(', ') },
          { head: 'Route', cell: ({ route }) => worded({ first: 'first that works' }, route) },
          { head: 'Critical', cell: ({ critical }) => worded({ true: 'yes', false: '' }, critical) },
        ]}
      />
    </Screen>
  )
}

function OneEvent({ of, eventType }: { readonly of: Loaded<Page<Event>>; readonly eventType: string }) {
  return (
    <Screen title={`Event ${eventType}`}>
      <Shown of={of}>
        {({ items }) => {
          const event = items.find((one) => one.eventType === eventType)
          if (!event)
            return (
              <Empty>
                The catalogue has no such event. Its name may have changed or be hidden: see the list of events.
              </Empty>
            )
          return (
            <>
              <EventFacts of={event} />
              <DryRun eventType={eventType} skeleton={event.skeleton} key={eventType} />
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}

function EventFacts({ of }: { readonly of: Event }) {
  const { eventType, category, route, critical, priority, delayMs, digest, channels } = of
  return (
    <Facts
      of={{
        Category: textOf(category),
        Route: worded({ first: 'first channel that works', all: 'all channels' }, route),
        Critical: worded({ true: 'preferences and quiet hours do not apply', false: '' }, critical),
        Priority: textOf(priority),
        Delay: duration(delayMs),
        Digest: digest && `${duration(digest.windowMs)}, at most ${count(digest.max)} events`,
        Channels: channels
          .map(({ channel, isConditional }) =>
            joined(channel, worded({ true: '(conditional)', false: '' }, isConditional)),
          )
          .join(', '),
        Dispatches: (
          <Link to={['dispatches']} query={{ eventType }}>
            show
          </Link>
        ),
      }}
    />
  )
}
