import { useState } from 'preact/hooks'
import { SUPPRESSION_REASONS, type SuppressionView } from '../../../model/suppression.ts'
import { type Loaded, type Page, post, useRead, withQuery } from '../api.ts'
import { host } from '../host.ts'
import { Action, Badge, Failure, Filter, List, queryOf, Time } from '../parts.tsx'
import { Screen } from '../shell.tsx'

export function SuppressionsScreen() {
  const read = useRead<Page<SuppressionView>>(withQuery('outbound/suppressions', queryOf(['channel', 'reason'])))
  return (
    <Screen title="Suppressions">
      <p>Addresses to which nothing is sent. Only a keyed hash of each is stored: look one up by the address itself.</p>
      <OfAddress />
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Filter name="reason" label="Reason" options={SUPPRESSION_REASONS} />
        <Filter name="channel" label="Channel" />
      </form>
      <List
        of={read}
        label="Suppressions"
        empty="No address is suppressed."
        keyOf={({ channel, addressKey, reason, category }) => [channel, addressKey, reason, category].join(' ')}
        columns={[
          { head: 'Since', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { head: 'Channel', cell: ({ channel }) => channel },
          { head: 'Reason', cell: ({ reason }) => <Badge>{reason}</Badge> },
          { head: 'Category', cell: ({ category }) => category ?? 'all' },
          { head: 'Source', cell: ({ source }) => source },
          { head: 'Until', cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : 'for good') },
          { head: 'Hash', cell: ({ addressKey }) => <code>{addressKey}</code> },
        ]}
      />
    </Screen>
  )
}

function OfAddress() {
  const [address, setAddress] = useState('')
  const [channel, setChannel] = useState('email')
  const [found, setFound] = useState<Loaded<{ readonly items: readonly SuppressionView[] }>>({})
  const of = { address, channel }
  const find = async (): Promise<void> => setFound(await post('outbound/suppressions/find', of))
  const add = async (): Promise<string> => {
    const { data, problem } = await post<{ readonly added: boolean }>('outbound/suppressions/add', of)
    void find()
    return problem?.detail ?? (data?.added ? 'Suppressed.' : 'It was suppressed already.')
  }
  const remove = async (): Promise<string> => {
    const { data, problem } = await post<{ readonly removed: number }>('outbound/suppressions/remove', of)
    void find()
    return problem?.detail ?? `Removed ${data?.removed ?? 0}.`
  }
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault()
        void find()
      }}
    >
      <label>
        Address
        <input value={address} onInput={(event) => setAddress(event.currentTarget.value.trim())} />
      </label>
      <label>
        Channel
        <input value={channel} onInput={(event) => setChannel(event.currentTarget.value.trim())} />
      </label>
      <button type="submit">Look up</button>
      {host.canOperate && (
        <>
          <Action label="Suppress" confirm="Send nothing to this address?" run={add} />
          <Action label="Remove" confirm="Send to this address again?" run={remove} />
        </>
      )}
      <div role="status">
        {found.problem && <Failure of={found.problem} />}
        {found.data &&
          (found.data.items.length === 0
            ? 'It is not suppressed.'
            : `Suppressed: ${found.data.items.map(({ channel, reason }) => `${reason} on ${channel}`).join(', ')}.`)}
      </div>
    </form>
  )
}
