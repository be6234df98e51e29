import { useCallback, useEffect, useState } from 'preact/hooks'
import { type Answer, post, withQuery } from '../../../console/app/api.ts'
import { List } from '../../../console/app/list.tsx'
import { Empty, Scroll, Shown } from '../../../console/app/parts.tsx'
import { usePage } from '../../../console/app/reading.ts'
import type { Redacted } from '../../../console/app/redacted.ts'
import { place, setQuery } from '../../../console/app/router.ts'
import { Screen } from '../../../console/app/screen.tsx'
import { DISPATCH_COLUMNS } from '../../../console/app/screens/dispatches.tsx'
import { joined, textOf, worded } from '../../../console/app/words.ts'
import type { DispatchView } from '../../../model/dispatch.ts'
import type { PreferenceSet } from '../../../model/preference-set.ts'
import type { RecipientAddress, RecipientProfile } from '../../../model/recipient-profile.ts'
import { SuppressionList } from './suppression-list.tsx'

/** Dispatches, preferences and suppressions of a recipient. */
export function RecipientScreen() {
  const recipient = place.value.query.get('recipient') ?? ''
  return (
    <Screen title={recipient === '' ? 'Recipients' : `Recipient ${recipient}`}>
      <Finder recipient={recipient} key={recipient} />
      {recipient === '' ? (
        <Empty>Enter a user id or an address, exactly as the host dispatches to it.</Empty>
      ) : (
        <>
          <Dispatches recipient={recipient} />
          <Profile recipient={recipient} key={recipient} />
        </>
      )}
    </Screen>
  )
}

function Finder({ recipient }: { readonly recipient: string }) {
  const [draft, setDraft] = useState(recipient)
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault()
        setQuery({ recipient: draft.trim() || undefined, cursor: undefined })
      }}
    >
      <label>
        User id or address
        <input type="search" value={draft} onInput={(event) => setDraft(event.currentTarget.value)} />
      </label>
      <button type="submit">Find</button>
    </form>
  )
}

function Dispatches({ recipient }: { readonly recipient: string }) {
  const cursor = place.value.query.get('cursor') ?? undefined
  const of = usePage<DispatchView>(withQuery('outbound/dispatches', { recipient, cursor }))
  return (
    <section>
      <h2>What was sent</h2>
      <p class="intro">
        Dispatches whose recipient is exactly <code>{recipient}</code>. Those to a user id are not found by the address
        that they went to, nor the other way round: look for the other one too, or call{' '}
        <code>sallyport.dispatches.export</code> in the host, which reads every dispatch.
      </p>
      <List
        of={of}
        label="Dispatches"
        empty="Nothing was dispatched to exactly this recipient."
        keyOf={({ dispatchId }) => textOf(dispatchId)}
        columns={DISPATCH_COLUMNS}
      />
    </section>
  )
}

function Profile({ recipient }: { readonly recipient: string }) {
  const [answer, setAnswer] = useState<Answer<Redacted<RecipientProfile>>>({})
  const read = useCallback(
    async () => setAnswer(await post<RecipientProfile>('outbound/recipients/find', { recipient })),
    [recipient],
  )
  useEffect(() => void read(), [read])
  return (
    <Shown of={answer}>
      {({ preferences, addresses }) => (
        <>
          <section>
            <h2>Preferences</h2>
            <Preferences of={preferences} />
          </section>
          <section>
            <h2>Suppressions</h2>
            <p class="intro">Of the addresses to which its newest 50 dispatches went, and of the address itself.</p>
            {addresses.length === 0 && (
              <Empty>No dispatch to exactly this recipient had an address, and none of this name is suppressed.</Empty>
            )}
            {addresses.map((one) => (
              <Address of={one} onLifted={read} key={joined(one.channel, one.address)} />
            ))}
          </section>
        </>
      )}
    </Shown>
  )
}

function Address({
  of: { channel, address, suppressions },
  onLifted,
}: {
  readonly of: Redacted<RecipientAddress>
  readonly onLifted: () => Promise<void>
}) {
  return (
    <section class="card">
      <h3>
        {textOf(channel)}: {textOf(address)}
      </h3>
      {suppressions === undefined && <p>This host stores no suppressions.</p>}
      {suppressions?.length === 0 && <p>It is not suppressed.</p>}
      {suppressions && suppressions.length > 0 && <SuppressionList of={suppressions} onLifted={onLifted} />}
    </section>
  )
}

function Preferences({ of }: { readonly of: Redacted<PreferenceSet> | undefined }) {
  const choices = choicesOf(of)
  if (choices.length === 0) return <Empty>None are stored: nothing was opted out of, except by unsubscribing.</Empty>
  return (
    <Scroll label="Preferences">
      <table>
        <thead>
          <tr>
            <th scope="col">Messages</th>
            <th scope="col">Channel</th>
            <th scope="col">Wanted</th>
          </tr>
        </thead>
        <tbody>
          {choices.map(([messages, channel, isWanted]) => (
            <tr key={joined(messages, channel)}>
              <td>{messages}</td>
              <td>{channel}</td>
              <td>{worded({ true: 'yes', false: 'no' }, isWanted)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

type Choice = readonly [messages: string, channel: string, isWanted: unknown]

/** One row for each choice: by event, by category, by channel. The most specific one counts. */
function choicesOf({ events = {}, categories = {}, channels = {} }: Redacted<PreferenceSet> = {}): readonly Choice[] {
  return [
    ...Object.entries(events).flatMap(([name, choice]) => rowsOf(`event ${name}`, choice)),
    ...Object.entries(categories).flatMap(([name, choice]) => rowsOf(`category ${name}`, choice)),
    ...Object.entries(channels).map(([channel, isWanted]): Choice => ['all', channel, isWanted]),
  ]
}

function rowsOf(messages: string, choice: unknown): readonly Choice[] {
  if (typeof choice !== 'object' || choice === null) return [[messages, 'all', choice]]
  return Object.entries(choice).map(([channel, isWanted]): Choice => [messages, channel, isWanted])
}
