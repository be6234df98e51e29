import type { SuppressionView } from '../../model/suppression.ts'
import { host } from './host.ts'
import { Badge, Explained, Link, Time } from './parts.tsx'
import type { Redacted } from './redacted.ts'
import { explainSuppression } from './sentences/refusal.ts'
import { joined, textOf } from './words.ts'

/** Suppressions of an address: of which kind, since when, and the way to lift each. */
export function SuppressionList({ of }: { readonly of: readonly Redacted<SuppressionView>[] }) {
  return (
    <ul>
      {of.map(({ channel, addressKey, reason, category, source, createdAt, expiresAt }) => (
        <li key={joined(channel, addressKey, reason, category)}>
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
            {host.canOperate ? 'Lift it' : 'Show it'}
          </Link>
        </li>
      ))}
    </ul>
  )
}
