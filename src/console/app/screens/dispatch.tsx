import { useState } from 'preact/hooks'
import type { ConditionTrace, DeliveryView, DispatchView } from '../../../model/dispatch.ts'
import type { CancelResult, RetryResult } from '../../../model/dispatch-results.ts'
import { post, useRead } from '../api.ts'
import { type Span, TimeAxis } from '../charts.tsx'
import { host } from '../host.ts'
import { Mail } from '../mail.tsx'
import { Action, Badge, Facts, Scroll, Shown, Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { explain } from '../sentences.ts'
import { Screen } from '../shell.tsx'

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
            {host.canOperate && <Changes path={path} />}
            <Attempts of={dispatch} />
            <p>
              <button type="button" aria-pressed={isContentShown} onClick={() => showContent(!isContentShown)}>
                {isContentShown ? 'Hide content' : 'Show content'}
              </button>
            </p>
            {dispatch.deliveries.map((delivery) => (
              <Delivery key={delivery.deliveryId} of={delivery} />
            ))}
          </>
        )}
      </Shown>
    </Screen>
  )
}

function Head({ of }: { readonly of: DispatchView }) {
  const { status, eventType, recipient, sessionId, createdAt, by, sandboxed } = of
  return (
    <Facts
      of={{
        Status: <Badge>{status}</Badge>,
        Event: <a href={linkTo(['events', eventType])}>{eventType}</a>,
        Recipient: <a href={linkTo(['dispatches'], { recipient })}>{recipient}</a>,
        Accepted: <Time at={createdAt} />,
        By: by,
        Session: sessionId && <a href={linkTo(['sessions', sessionId])}>{sessionId}</a>,
        Sandbox: sandboxed && 'recorded, not sent',
      }}
    />
  )
}

function Changes({ path }: { readonly path: string }) {
  const cancel = async (): Promise<string> => {
    const { data, problem } = await post<CancelResult>(`${path}/cancel`)
    if (!data) return problem?.detail ?? ''
    return data.cancelled.length > 0 ? `Cancelled ${data.cancelled.length}.` : 'Nothing could be stopped any more.'
  }
  const retry = async (): Promise<string> => {
    const { data, problem } = await post<RetryResult>(`${path}/retry`)
    if (!data) return problem?.detail ?? ''
    const unplanned = data.unplanned.map(({ channel, detail }) => ` ${channel}: ${detail}`).join('')
    return data.retried.length > 0
      ? `Queued ${data.retried.length} again.${unplanned}`
      : `Nothing to retry.${unplanned}`
  }
  return (
    <p class="actions">
      <Action label="Cancel" confirm="Stop deliveries that are not sent yet?" run={cancel} />
      <Action label="Retry" confirm="Send failed and expired deliveries again?" run={retry} />
    </p>
  )
}

function Attempts({ of }: { readonly of: DispatchView }) {
  const spans = of.deliveries.flatMap(({ channel, attemptLog = [] }): Span[] =>
    attemptLog.map(({ attempt, startedAt, endedAt, outcome }) => ({
      label: `${channel}, attempt ${attempt}: ${outcome ?? 'in flight'}`,
      from: Date.parse(startedAt),
      to: endedAt === undefined ? undefined : Date.parse(endedAt),
      tone: outcome === 'sent' ? 'good' : outcome === undefined ? 'going' : 'bad',
    })),
  )
  if (spans.length === 0) return null
  const accepted: Span = {
    label: 'accepted',
    from: Date.parse(of.createdAt),
    to: Date.parse(of.createdAt),
    tone: 'plain',
  }
  return (
    <section>
      <h2>Attempts</h2>
      <TimeAxis label="Attempts on a time axis" spans={[accepted, ...spans]} />
    </section>
  )
}

function Delivery({ of }: { readonly of: DeliveryView }) {
  const { deliveryId, channel, status, reason, attemptLog = [], trace = [], feedback = [], content } = of
  const { means, next } = explain(status, reason)
  return (
    <section class="card">
      <h2>
        {channel} <Badge>{status}</Badge>
      </h2>
      <p>
        {means} {next}
      </p>
      <Facts
        of={{
          Delivery: deliveryId,
          Reason: reason,
          'Next attempt': of.nextAttemptAt && <Time at={of.nextAttemptAt} />,
          Address: of.address,
          'Events in the digest': of.eventCount,
          'Last code': of.lastCode,
          'Message id': of.providerMessageId,
        }}
      />
      {attemptLog.length > 0 && (
        <ol class="attempts">
          {attemptLog.map(({ attempt, startedAt, outcome, code, provider }) => (
            <li key={attempt}>
              <Time at={startedAt} /> <Badge>{outcome ?? 'sending'}</Badge> {code && <code>{code}</code>} {provider}
            </li>
          ))}
        </ol>
      )}
      {feedback.length > 0 && (
        <>
          <h3>Feedback of the provider</h3>
          <ul>
            {feedback.map(({ kind, at, code }) => (
              <li key={`${kind} ${code}`}>
                <Time at={at} /> <Badge>{kind}</Badge> {code && <code>{code}</code>}
              </li>
            ))}
          </ul>
        </>
      )}
      {trace.length > 0 && <Trace of={trace} channel={channel} />}
      {content && <Mail content={content} label={`${channel} ${deliveryId}`} />}
    </section>
  )
}

export function Trace({ of, channel }: { readonly of: readonly ConditionTrace[]; readonly channel: string }) {
  return (
    <Scroll label={`Condition of ${channel}`}>
      <table>
        <caption>Condition</caption>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Read</th>
            <th scope="col">Value</th>
            <th scope="col">Expected</th>
            <th scope="col">Result</th>
          </tr>
        </thead>
        <tbody>
          {of.map(({ rule, path, actual, expected, result }, at) => (
            <tr key={`${rule} ${path} ${String(at)}`}>
              <td>
                <code>{rule}</code>
              </td>
              <td>{path}</td>
              <td>{actual === undefined ? 'private' : <code>{JSON.stringify(actual)}</code>}</td>
              <td>{expected === undefined ? '' : <code>{JSON.stringify(expected)}</code>}</td>
              <td>{result ? 'true' : 'false'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
