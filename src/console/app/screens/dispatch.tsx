import { useState } from 'preact/hooks'
import type { AttemptView } from '../../../model/attempt.ts'
import type { DeliveryView, DispatchView } from '../../../model/dispatch.ts'
import type { CancelResult, RetryResult } from '../../../model/dispatch-results.ts'
import { Action } from '../action.tsx'
import { post } from '../api.ts'
import { Condition } from '../condition.tsx'
import { host } from '../host.ts'
import { Mail } from '../mail.tsx'
import { Badge, Explained, Facts, Link, Shown, Time, toneOf } from '../parts.tsx'
import { PLUGIN_SCREENS } from '../plugin-screens.ts'
import { useRead } from '../reading.ts'
import type { Redacted } from '../redacted.ts'
import { Screen } from '../screen.tsx'
import { isRefused, whyNotCancel, whyNotRetry } from '../sentences/change.ts'
import {
  explainDelivery,
  explainDispatch,
  explainFeedback,
  explainOutcome,
  explainProvider,
} from '../sentences/delivery.ts'
import { textOfProblem } from '../sentences/problem.ts'
import { openSpan, spanOf, type TimeRow, TimeTable } from '../time-table.tsx'
import { instantOf, joined, textOf, worded } from '../words.ts'

export function DispatchScreen({ dispatchId }: { readonly dispatchId: string }) {
  const [isContentShown, showContent] = useState(false)
  const path = `outbound/dispatches/${encodeURIComponent(dispatchId)}`
  const read = useRead<DispatchView>(isContentShown ? `${path}?content=true` : path)
  return (
    <Screen title={`Dispatch ${dispatchId}`}>
      <Shown of={read}>
        {(dispatch) => (
          <>
            <Head of={dispatch} />
            <div class="actions">
              {host.canOperate && <Changes of={dispatch} path={path} />}
              <button type="button" aria-pressed={isContentShown} onClick={() => showContent(!isContentShown)}>
                {isContentShown ? 'Hide content' : 'Show content'}
              </button>
            </div>
            <Attempts of={dispatch} />
            {dispatch.deliveries.map((delivery) => (
              <Delivery key={delivery.deliveryId} of={delivery} eventType={dispatch.eventType} />
            ))}
          </>
        )}
      </Shown>
    </Screen>
  )
}

function Head({ of }: { readonly of: Redacted<DispatchView> }) {
  const { status, eventType, recipient, sessionId, createdAt, by, priority, sandboxed } = of
  return (
    <>
      <p class="lead">
        <Badge>{status}</Badge> <Explained of={explainDispatch(status, of.deliveries)} />
      </p>
      <Facts
        of={{
          Event: <Link to={['events', eventType]} />,
          Recipient: (
            <Link to={['recipients']} query={{ recipient }}>
              {recipient}
            </Link>
          ),
          Accepted: <Time at={createdAt} />,
          By: textOf(by),
          Session: sessionId !== undefined && <Link to={['sessions', sessionId]} />,
          Priority: textOf(priority),
          Sandbox: worded({ true: 'recorded, not sent', false: '' }, sandboxed),
        }}
      />
    </>
  )
}

const SEND_THE_SAME = 'The provider refused it for good. Send the same message to the same address again?'

function Changes({ of, path }: { readonly of: Redacted<DispatchView>; readonly path: string }) {
  const { status, deliveries } = of
  const cancel = async (): Promise<string> => {
    const { data, problem } = await post<CancelResult>(`${path}/cancel`)
    if (!data) return problem ? textOfProblem(problem) : ''
    return data.cancelled.length > 0 ? `Cancelled ${data.cancelled.length}.` : 'No delivery is still to be sent.'
  }
  const retry = async (): Promise<string> => {
    const { data, problem } = await post<RetryResult>(`${path}/retry`)
    if (!data) return problem ? textOfProblem(problem) : ''
    const unplanned = data.unplanned.map(({ channel, detail }) => ` ${textOf(channel)}: ${textOf(detail)}`).join('')
    if (data.retried.length > 0) return `Queued ${data.retried.length} again.${unplanned}`
    return unplanned === '' ? 'Nothing to retry.' : `It cannot be planned again.${unplanned}`
  }
  return (
    <>
      <Action
        label="Cancel"
        confirm="Stop deliveries that are not sent yet?"
        whyNot={whyNotCancel(deliveries)}
        run={cancel}
      />
      <Action
        label="Retry"
        confirm={isRefused(deliveries) ? SEND_THE_SAME : 'Send failed and expired deliveries again?'}
        whyNot={whyNotRetry(status, deliveries)}
        run={retry}
      />
    </>
  )
}

/** Attempts that are drawn at first. A delivery that is retried for days has hundreds. */
const DRAWN = 50

function Attempts({ of }: { readonly of: Redacted<DispatchView> }) {
  const [areAllShown, showAll] = useState(false)
  const accepted = instantOf(of.createdAt)
  const rows = of.deliveries.flatMap(({ channel, attemptLog = [] }) => attemptLog.map((one) => rowOf(channel, one)))
  if (rows.length === 0) return null
  const inTime = rows.toSorted((one, other) => (one.span?.from ?? 0) - (other.span?.from ?? 0))
  const drawn = areAllShown ? inTime : inTime.slice(-DRAWN)
  const first: TimeRow = {
    key: '',
    cells: ['accepted', <Time key="began" at={of.createdAt} />, '', '', ''],
    span: spanOf(accepted, accepted),
    tone: 'plain',
  }
  return (
    <section>
      <h2>Attempts</h2>
      <TimeTable
        label="Attempts on a time axis"
        heads={['Attempt', 'Began', 'Outcome', 'Code', 'Meaning']}
        rows={[first, ...drawn]}
      />
      {drawn.length < inTime.length && (
        <button type="button" onClick={() => showAll(true)}>
          Show all {inTime.length} attempts
        </button>
      )}
    </section>
  )
}

function rowOf(channel: unknown, of: Redacted<AttemptView>): TimeRow {
  const { attempt, startedAt, endedAt, outcome, code, enhancedStatus: status } = of
  const from = instantOf(startedAt)
  const word = outcome === undefined ? 'sending' : outcome
  const isOpen = endedAt === undefined && outcome !== 'lost'
  return {
    key: joined(channel, attempt),
    cells: [
      `${textOf(channel)}, attempt ${textOf(attempt)}`,
      <Time key="began" at={startedAt} />,
      <Badge key="outcome">{word}</Badge>,
      code !== undefined && <code>{status === undefined ? textOf(code) : `${textOf(code)} ${textOf(status)}`}</code>,
      <span key="meaning" class="meaning">
        <Explained of={explainOutcome(outcome, code, status)} /> <Providers of={of} /> <OmittedCopies of={of} />
      </span>,
    ],
    span: isOpen ? openSpan(from) : spanOf(from, endedAt === undefined ? from : instantOf(endedAt)),
    tone: toneOf(word),
  }
}

function OmittedCopies({ of: { omittedCopies: count } }: { readonly of: Redacted<AttemptView> }) {
  if (typeof count !== 'number') return null
  const said =
    count === 1 ? 'One copy was left out: its address is' : `${count} copies were left out: their addresses are`
  return <span>{said} suppressed.</span>
}

/** Each provider of an attempt, with its code; only the name if it was the only one. */
function Providers({ of: { provider, providers = [] } }: { readonly of: Redacted<AttemptView> }) {
  if (providers.length < 2) return provider === undefined ? null : <span>Provider: {textOf(provider)}.</span>
  return (
    <ul>
      {providers.map(({ name, code }) => (
        <li key={textOf(name)}>
          {textOf(name)}: {code !== undefined && <code>{textOf(code)}</code>} {explainProvider(code)}
        </li>
      ))}
    </ul>
  )
}

function Delivery({ of, eventType }: { readonly of: Redacted<DeliveryView>; readonly eventType: unknown }) {
  const { deliveryId, channel, status, reason, trace = [], feedback = [], content, waiting } = of
  return (
    <section class="card">
      <h2>
        {textOf(channel)} <Badge>{status}</Badge>
      </h2>
      <p>
        <Explained of={explainDelivery(status, reason, waiting?.for)} />
      </p>
      <Facts
        of={{
          Reason: reason !== undefined && <code>{textOf(reason)}</code>,
          Attempts: of.attempts !== 0 && textOf(of.attempts),
          'Due since': waiting === undefined && of.nextAttemptAt !== undefined && <Time at={of.nextAttemptAt} />,
          'Waits until': waiting?.until !== undefined && <Time at={waiting.until} />,
          Address: textOf(of.address),
          'Events in the digest': textOf(of.eventCount),
          'Last code': of.lastCode !== undefined && <code>{textOf(of.lastCode)}</code>,
          'Message id': textOf(of.providerMessageId),
          Delivery: <span class="id">{textOf(deliveryId)}</span>,
        }}
      />
      {PLUGIN_SCREENS.map(({ delivery }) => delivery?.(of))}
      {feedback.length > 0 && (
        <>
          <h3>Feedback of the provider</h3>
          <ul>
            {feedback.map(({ kind, at, code }) => (
              <li key={joined(kind, code)}>
                <Time at={at} /> <Badge>{kind}</Badge> {code !== undefined && <code>{textOf(code)}</code>}{' '}
                <Explained of={explainFeedback(kind)} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Condition of={trace} channel={channel} eventType={eventType} isFalse={reason === 'condition_false'} />
      {content && <Mail content={content} label={joined(channel, deliveryId)} />}
    </section>
  )
}
