import type { DispatchView } from '../../../model/dispatch.ts'
import { type Page, useRead, withQuery } from '../api.ts'
import { Badge, Filter, List, queryOf, Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { Screen } from '../shell.tsx'

const FILTERS = ['status', 'eventType', 'recipient', 'channel', 'sessionId', 'since', 'until']
const STATUSES = ['queued', 'sent', 'partial', 'failed', 'skipped', 'cancelled']

export function DispatchesScreen() {
  const read = useRead<Page<DispatchView>>(withQuery('outbound/dispatches', queryOf(FILTERS)))
  return (
    <Screen title="Dispatches">
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Filter name="status" label="Status" options={STATUSES} />
        <Filter name="eventType" label="Event" />
        <Filter name="recipient" label="Recipient" />
        <Filter name="channel" label="Channel" />
        <Filter name="sessionId" label="Session" />
        <Filter name="since" label="Since (RFC 3339)" />
        <Filter name="until" label="Before (RFC 3339)" />
      </form>
      <List
        of={read}
        label="Dispatches"
        empty="No dispatch matches. Events that hosts and agents dispatch are listed here."
        keyOf={({ dispatchId }) => dispatchId}
        columns={[
          { head: 'Accepted', cell: ({ createdAt }) => <Time at={createdAt} /> },
          { head: 'Dispatch', cell: ({ dispatchId }) => <a href={linkTo(['dispatches', dispatchId])}>{dispatchId}</a> },
          { head: 'Event', cell: ({ eventType }) => eventType },
          { head: 'Recipient', cell: ({ recipient }) => recipient },
          { head: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
          {
            head: 'Channels',
            cell: ({ deliveries }) =>
              deliveries.map(({ deliveryId, channel, status }) => (
                <span class="channel" key={deliveryId}>
                  {channel} <Badge>{status}</Badge>
                </span>
              )),
          },
        ]}
      />
    </Screen>
  )
}
