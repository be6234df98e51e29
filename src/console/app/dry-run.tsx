import { useEffect, useState } from 'preact/hooks'
import type { DispatchPreview } from '../../model/dispatch.ts'
import { post } from './api.ts'
import { Condition } from './condition.tsx'
import { Mail } from './mail.tsx'
import { Badge, Empty, Explained, Facts, Shown, Time } from './parts.tsx'
import { type Loaded, useVisible } from './reading.ts'
import type { Redacted } from './redacted.ts'
import { explainPlanned } from './sentences/delivery.ts'
import { textOf } from './words.ts'

/** Plans the event for a recipient while one types. Nothing is stored or sent. */
export function DryRun({ eventType, skeleton = {} }: { readonly eventType: string; readonly skeleton?: unknown }) {
  const [recipient, setRecipient] = useState('')
  // The first one: a poll does not replace what is typed.
  const [text, setText] = useState(() => JSON.stringify(skeleton, null, 2))
  const [answer, setAnswer] = useState<Loaded<Redacted<DispatchPreview>>>({})
  const isVisible = useVisible()
  const isValid = parsed(text) !== undefined
  useEffect(() => {
    const eventData = parsed(text)
    if (recipient === '' || eventData === undefined) return setAnswer({})
    if (!isVisible) return
    let isOld = false
    setAnswer((before) => ({ ...before, isLoading: true }))
    const timer = setTimeout(async () => {
      const next = await post<DispatchPreview>('outbound/dispatch', { eventType, recipient, eventData })
      if (!isOld) setAnswer(next)
    }, 300)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [eventType, recipient, text, isVisible])
  return (
    <section>
      <h2>Dry run</h2>
      <p class="intro">Plans the event for a recipient and renders its messages. Nothing is stored or sent.</p>
      <div class="beside">
        <form class="dry-run" onSubmit={(event) => event.preventDefault()}>
          <label>
            Recipient
            <input value={recipient} onInput={(event) => setRecipient(event.currentTarget.value.trim())} />
          </label>
          <label>
            Data of the event (JSON)
            <textarea
              rows={10}
              spellcheck={false}
              value={text}
              aria-invalid={!isValid}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          {!isValid && (
            <p class="fault" role="alert">
              This is not a JSON object.
            </p>
          )}
        </form>
        <div>
          {recipient === '' ? (
            <Empty>Enter a recipient to see what each channel would do.</Empty>
          ) : (
            isValid && <Result of={answer} eventType={eventType} />
          )}
        </div>
      </div>
    </section>
  )
}

function Result({ of, eventType }: { readonly of: Loaded<Redacted<DispatchPreview>>; readonly eventType: string }) {
  return (
    <Shown of={of}>
      {({ status, deliveries }) => (
        <>
          <p class="lead" role="status">
            The dispatch would be <Badge>{status}</Badge>
          </p>
          {deliveries.map(({ channel, status: own, reason, detail, address, waiting, trace = [], content }) => (
            <section class="card" key={textOf(channel)}>
              <h3>
                {textOf(channel)} <Badge>{own}</Badge>
              </h3>
              <p>
                <Explained of={explainPlanned(own, reason, waiting?.for)} />{' '}
                {detail !== undefined && <code>{textOf(detail)}</code>}
              </p>
              <Facts
                of={{
                  Address: textOf(address),
                  'Waits until': waiting?.until !== undefined && <Time at={waiting.until} />,
                  Reason: reason !== undefined && <code>{textOf(reason)}</code>,
                }}
              />
              <Condition of={trace} channel={channel} eventType={eventType} isFalse={reason === 'condition_false'} />
              {content && <Mail content={content} label={textOf(channel)} />}
            </section>
          ))}
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
