import './suppressions.css'
import { useEffect, useState } from 'preact/hooks'
import { Action } from '../../../console/app/action.tsx'
import { type Answer, post } from '../../../console/app/api.ts'
import { host } from '../../../console/app/host.ts'
import { ListScreen } from '../../../console/app/list.tsx'
import { Badge, Explained, Failure, Link, Time } from '../../../console/app/parts.tsx'
import type { Redacted } from '../../../console/app/redacted.ts'
import { place } from '../../../console/app/router.ts'
import { textOfProblem } from '../../../console/app/sentences/problem.ts'
import { count, textOf, worded } from '../../../console/app/words.ts'
import { SUPPRESSION_REASONS, type SuppressionView } from '../../../model/suppression.ts'
import { explainSuppression } from './explain-suppression.ts'

export function SuppressionsScreen() {
  const { query } = place.value
  const addressKey = query.get('addressKey') ?? undefined
  return (
    <ListScreen<SuppressionView>
      title="Suppressions"
      path="outbound/suppressions"
      filters={[
        { name: 'reason', label: 'Reason', options: SUPPRESSION_REASONS },
        { name: 'channel', label: 'On channel' },
      ]}
      empty="No address is suppressed. Bounces, complaints and unsubscriptions appear here, and addresses that you suppress above."
      keyOf={({ channel, addressKey, reason, category }) => [channel, addressKey, reason, category].join(' ')}
      columns={[
        { head: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
        { head: 'Reason', cell: ({ reason }) => <Reason of={reason} /> },
        { head: 'Channel', cell: ({ channel }) => textOf(channel) },
        { head: 'Category', cell: ({ category }) => (category === undefined ? 'all' : textOf(category)) },
        { head: 'Source', cell: ({ source }) => textOf(source) },
        { head: 'Until', cell: ({ expiresAt }) => (expiresAt === undefined ? 'for good' : <Time at={expiresAt} />) },
        {
          head: 'Hash of the address',
          cell: ({ addressKey, channel }) => (
            <Link class="id" to={['suppressions']} query={{ addressKey, channel }}>
              {addressKey}
            </Link>
          ),
        },
      ]}
    >
      <p class="intro">
        Addresses to which nothing is sent. Only a keyed hash of each is stored: look one up by the address itself.
      </p>
      <OfAddress addressKey={addressKey} channel={query.get('channel') ?? 'email'} key={addressKey} />
    </ListScreen>
  )
}

function Reason({ of }: { readonly of: unknown }) {
  return (
    <>
      <Badge>{of}</Badge> <Explained of={explainSuppression(of)} />
    </>
  )
}

interface Items {
  readonly items: readonly SuppressionView[]
}

const NO_ADDRESS = 'Nothing is suppressed under it. An id of a user is no address: look it up under Recipients.'

/** True for what looks like a mail address, a number or a URL. */
function isAddress(text: string): boolean {
  return /[@+:]/.test(text)
}

function describe({ channel, reason, category }: Redacted<SuppressionView>): string {
  return `${textOf(reason)} on ${textOf(channel)}${category === undefined ? '' : ` for ${textOf(category)} alone`}`
}

function lookUp(of: {
  readonly address?: string
  readonly addressKey?: string
  readonly channel: string
}): Promise<Answer<Redacted<Items>>> {
  return post<Items>('outbound/suppressions/find', of)
}

/**
 * Looks an address up, and suppresses or releases it.
 *
 * @param addressKey Its hash, from a link: the address itself is not known.
 */
function OfAddress({
  addressKey,
  channel: linked,
}: {
  readonly addressKey: string | undefined
  readonly channel: string
}) {
  const [address, setAddress] = useState('')
  const [channel, setChannel] = useState(linked)
  const [found, setFound] = useState<Answer<Redacted<Items>>>({})
  const [said, say] = useState('')
  const of = addressKey === undefined ? { address, channel } : { addressKey, channel }
  const whyNot = addressKey === undefined && address === '' ? 'Enter an address first.' : undefined
  const find = async (): Promise<void> => setFound(await lookUp(of))
  useEffect(() => {
    if (addressKey !== undefined) void lookUp({ addressKey, channel: linked }).then(setFound)
  }, [addressKey, linked])
  /** Earlier answers are about another address. */
  const type = (set: (text: string) => void, text: string): void => {
    set(text.trim())
    setFound({})
    say('')
  }
  const add = async (): Promise<string> => {
    const { data, problem } = await post<{ readonly added: boolean }>('outbound/suppressions/add', of)
    if (problem) return textOfProblem(problem)
    say(worded({ true: 'It was added.', false: 'It was suppressed already.' }, data?.added))
    await find()
    return ''
  }
  const remove = async (): Promise<string> => {
    const { data, problem } = await post<{ readonly removed: number }>('outbound/suppressions/remove', of)
    if (problem) return textOfProblem(problem)
    say(`Removed ${count(data?.removed)}.`)
    await find()
    return ''
  }
  return (
    <form
      class="filters card"
      onSubmit={(event) => {
        event.preventDefault()
        say('')
        void find()
      }}
    >
      {addressKey === undefined ? (
        <label>
          Address
          <input required value={address} onInput={(event) => type(setAddress, event.currentTarget.value)} />
        </label>
      ) : (
        <p class="found">
          The address with the hash <code class="id">{addressKey}</code>.{' '}
          <Link to={['suppressions']}>Look up another address</Link>
        </p>
      )}
      <label>
        Channel
        <input value={channel} onInput={(event) => type(setChannel, event.currentTarget.value)} />
      </label>
      <button type="submit">Look up</button>
      {host.canOperate && (
        <>
          {addressKey === undefined && (
            <Action label="Suppress" confirm="Send nothing to this address?" whyNot={whyNot} run={add} />
          )}
          <Action label="Remove" confirm="Send to this address again?" whyNot={whyNot} run={remove} />
        </>
      )}
      <div class="found" role="status">
        {found.problem && <Failure of={found.problem} />}
        {said}{' '}
        {found.data?.items.length === 0 && (isAddress(address) || addressKey ? 'It is not suppressed.' : NO_ADDRESS)}
        {found.data && found.data.items.length > 0 && `Suppressed: ${found.data.items.map(describe).join(', ')}.`}
      </div>
    </form>
  )
}
