import type { SuppressionView } from '../../model/suppression.ts'
import { Action } from './action.tsx'
import { post } from './api.ts'
import { host } from './host.ts'
import { Badge, Explained, Link, Time } from './parts.tsx'
import type { Redacted } from './redacted.ts'
import { textOfProblem } from './sentences/problem.ts'
import { explainSuppression } from './sentences/refusal.ts'
import { joined, textOf } from './words.ts'

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
