import type { DispatchStatus, DispatchView } from '../../../model/dispatch.ts'
import { type Column, type Filter, ListScreen } from '../list.tsx'
import { Badge, Link, Time } from '../parts.tsx'
import type { Redacted } from '../redacted.ts'
import { REASONS } from '../sentences/delivery.ts'
import { textOf } from '../words.ts'

const STATUSES: readonly DispatchStatus[] = ['queued', 'sent', 'partial', 'failed', 'skipped', 'cancelled']

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', options: STATUSES },
  { name: 'eventType', label: 'Event' },
  {
    name: 'recipient',
    label: 'Recipient',
    hint: (recipient) => (
      <>
        A dispatch to a user id is not found by the address that it went to, nor the other way round: see the{' '}
        <Link to={['recipients']} query={{ recipient }}>
          page of the recipient
        </Link>
        .
      </>
    ),
  },
  { name: 'channel', label: 'Channel' },
  { name: 'reason', label: 'Reason', options: Object.keys(REASONS) },
  { name: 'sessionId', label: 'Session' },
  { name: 'since', label: 'Accepted since', kind: 'instant' },
  { name: 'until', label: 'Accepted before', kind: 'instant' },
]

export const DISPATCH_COLUMNS: readonly Column<Redacted<DispatchView>>[] = [
  { head: 'Dispatch', cell: ({ dispatchId }) => <Link class="id" to={['dispatches', dispatchId]} /> },
  { head: 'Status', cell: ({ status }) => <Badge>{status}</Badge> },
  { head: 'Event', cell: ({ eventType }) => textOf(eventType) },
  {
    head: 'Recipient',
    cell: ({ recipient }) => (
      <Link to={['recipients']} query={{ recipient }}>
        {recipient}
      </Link>
    ),
  },
  { head: 'Channels', cell: ({ deliveries }) => <Channels of={deliveries} /> },
  { head: 'Accepted', cell: ({ createdAt }) => <Time at={createdAt} /> },
]

export function DispatchesScreen() {
  return (
    <ListScreen<DispatchView>
      title="Dispatches"
      path="outbound/dispatches"
      filters={FILTERS}
      empty={
        <>
          No event was dispatched yet. Call <code>sallyport.dispatch(…)</code> in the host, or post to{' '}
          <code>/api/outbound/dispatch</code>.
        </>
      }
      keyOf={({ dispatchId }) => textOf(dispatchId)}
      columns={DISPATCH_COLUMNS}
    />
  )
}

function Channels({ of }: { readonly of: Redacted<DispatchView['deliveries']> }) {
  return (
    <>
      {of.map(({ deliveryId, channel, status }) => (
        <span class="channel" key={deliveryId}>
          {textOf(channel)} <Badge>{status}</Badge>
        </span>
      ))}
    </>
  )
}
