import { Action } from '../../../console/app/action.tsx'
import { post } from '../../../console/app/api.ts'
import { host } from '../../../console/app/host.ts'
import { Badge, Explained, Link, Time } from '../../../console/app/parts.tsx'
import type { Redacted } from '../../../console/app/redacted.ts'
import { textOfProblem } from '../../../console/app/sentences/problem.ts'
import { joined, textOf } from '../../../console/app/words.ts'
import type { SuppressionView } from '../../../model/suppression.ts'
import { explainSuppression } from './explain-suppression.ts'

/** Suppressions of an address on a channel: of which kind and since when. An operator can lift them. */
export function SuppressionList({
  of,
  onLifted,
}: {
  /** Suppressions of one address on one channel, at least one. */
  readonly of: readonly Redacted<SuppressionView>[]
  readonly onLifted?: () => Promise<void>
}) {
  const lift = async (): Promise<string> => {
    const { channel, addressKey } = of[0] ?? {}
    const { problem } = await post('outbound/suppressions/remove', { channel, addressKey })
    if (problem) return textOfProblem(problem)
    await onLifted?.()
    return 'It was lifted.'
  }
  return (
    <>
      <ul>
        {of.map((one) => (
          <li key={joined(one.channel, one.addressKey, one.reason, one.category)}>
            <Suppression of={one} />
          </li>
        ))}
      </ul>
      {host.canOperate && (
        <Action
          label={of.length === 1 ? 'Lift it' : `Lift all ${of.length}`}
          confirm="Send to this address again?"
          run={lift}
        />
      )}
    </>
  )
}

/** Suppressions of the address of a delivery that one of them stopped. */
export function DeliverySuppressions({ of }: { readonly of: readonly Redacted<SuppressionView>[] }) {
  return (
    <>
      <h3>What suppresses the address now</h3>
      {of.length === 0 ? (
        <p>Nothing: the suppression was lifted, or has expired. Dispatch the event again to send it.</p>
      ) : (
        <SuppressionList of={of} />
      )}
    </>
  )
}

function Suppression({ of }: { readonly of: Redacted<SuppressionView> }) {
  const { channel, addressKey, reason, category, source, createdAt, expiresAt } = of
  return (
    <>
      <Badge>{reason}</Badge> on {textOf(channel)} since <Time at={createdAt} />
      {expiresAt !== undefined && (
        <>
          {' '}
          until <Time at={expiresAt} />
        </>
      )}
      , {category === undefined ? 'for all events' : `for ${textOf(category)}`}, by {textOf(source)}.{' '}
      <Explained of={explainSuppression(reason)} />{' '}
      <Link to={['suppressions']} query={{ addressKey, channel }}>
        Show it
      </Link>
    </>
  )
}
