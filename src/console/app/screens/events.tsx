import { useEffect, useState } from 'preact/hooks'
import type { DispatchPreview } from '../../../model/dispatch.ts'
import type { EventView } from '../../../model/event-view.ts'
import { type Loaded, type Page, post, useRead } from '../api.ts'
import { Mail } from '../mail.tsx'
import { Badge, duration, Facts, List, Shown } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { explain } from '../sentences.ts'
import { Screen } from '../shell.tsx'
import { Trace } from './dispatch.tsx'

export function EventsScreen({ eventType }: { readonly eventType: string | undefined }) {
  const read = useRead<Page<EventView>>('outbound/events', false)
  if (eventType === undefined) {
    return (
      <Screen title="Events">
        <List
          of={read}
          label="Events"
          empty="The catalogue has no event."
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
  return (
    <Screen title={`Event ${eventType}`}>
      <Shown of={read}>
        {({ items }) => {
          const event = items.find((one) => one.eventType === eventType)
          return event ? <EventDetail of={event} /> : <p class="state">The catalogue has no such event any more.</p>
        }}
      </Shown>
    </Screen>
  )
}

function EventDetail({ of }: { readonly of: EventView }) {
  const { eventType, category, route, critical, delayMs, digest, channels } = of
  return (
    <>
      <Facts
        of={{
          Category: category,
          Route: route === 'first' ? 'first channel that works' : 'all channels',
          Critical: critical && 'preferences and quiet hours do not apply',
          Delay: delayMs !== undefined && duration(delayMs),
          Digest: digest && `${duration(digest.windowMs)}, at most ${digest.max} events`,
          Channels: channels
            .map(({ channel, isConditional }) => (isConditional ? `${channel} (conditional)` : channel))
            .join(', '),
          Dispatches: <a href={linkTo(['dispatches'], { eventType })}>show</a>,
        }}
      />
      <DryRun eventType={eventType} />
    </>
  )
}

/** Plans the event for a recipient while one types. Nothing is stored or sent. */
function DryRun({ eventType }: { readonly eventType: string }) {
  const [recipient, setRecipient] = useState('')
  const [text, setText] = useState('{}')
  const [answer, setAnswer] = useState<Loaded<DispatchPreview>>({})
  const isValid = parsed(text) !== undefined
  useEffect(() => {
    const eventData = parsed(text)
    if (recipient === '' || eventData === undefined) return setAnswer({})
    let isOld = false
    const timer = setTimeout(async () => {
      const next = await post<DispatchPreview>('outbound/dispatch', { eventType, recipient, eventData })
      if (!isOld) setAnswer(next)
    }, 300)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [eventType, recipient, text])
  return (
    <section>
      <h2>Dry run</h2>
      <p>Plans the event for a recipient and renders its messages. Nothing is stored or sent.</p>
      <form class="dry-run" onSubmit={(event) => event.preventDefault()}>
        <label>
          Recipient
          <input value={recipient} onInput={(event) => setRecipient(event.currentTarget.value.trim())} />
        </label>
        <label>
          Data of the event (JSON)
          <textarea
            rows={8}
            spellcheck={false}
            value={text}
            aria-invalid={!isValid}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {!isValid && <p role="alert">This is not a JSON object.</p>}
      </form>
      {recipient === '' ? (
        <p class="state">Enter a recipient to see what each channel would do.</p>
      ) : (
        <Result of={answer} />
      )}
    </section>
  )
}

function Result({ of }: { readonly of: Loaded<DispatchPreview> }) {
  return (
    <Shown of={of}>
      {({ status, deliveries }) => (
        <>
          <p role="status">
            The dispatch would be <Badge>{status}</Badge>
          </p>
          {deliveries.map(({ channel, status: own, reason, detail, address, trace = [], content }) => {
            const { means, next } = explain(own, reason)
            return (
              <section class="card" key={channel}>
                <h3>
                  {channel} <Badge>{own}</Badge>
                </h3>
                <p>
                  {means} {next} {detail && <code>{detail}</code>}
                </p>
                <Facts of={{ Address: address, Reason: reason }} />
                {trace.length > 0 && <Trace of={trace} channel={channel} />}
                {content && <Mail content={content} label={channel} />}
              </section>
            )
          })}
        </>
      )}
    </Shown>
  )
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text || '{}')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
