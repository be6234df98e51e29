import type pg from 'pg'
import { contentText } from './storage-rows.ts'

/** Waiting deliveries, written by the database itself. */
export interface Filling {
  readonly prefix?: string
  readonly count: number
  readonly channel?: string
  /** The receiver of all deliveries. */
  readonly concurrencyKey?: string
  /** Milliseconds since they were due. Default: 0. */
  readonly sinceMs?: number
}

const TEN_DAYS = 864_000_000

/** Writes dispatches with one delivery each, due at once, in the form that `accept` leaves them. */
export async function fill(pool: pg.Pool, { prefix = 'sallyport_', count, ...rest }: Filling): Promise<void> {
  const { channel = 'none', concurrencyKey = null, sinceMs = 0 } = rest
  const series = `n, now, 'dsp_' || now || '_' || lpad(n::text, 8, '0') as dispatch_id, 'dlv_' || now || '_' || lpad(n::text, 8, '0') as delivery_id
    from (select n, (extract(epoch from statement_timestamp()) * 1000)::bigint as now from generate_series(1, ${count}) n) x`
  await pool.query(
    `with rows as materialized (select ${series}), heads as (
      insert into ${prefix}dispatches (dispatch_id, tenant, event_type, recipient, recipient_key, route, made_by, created_at, version)
      select dispatch_id, 'default', 'order.shipped', 'user-' || n % 1000, 'user-' || n % 1000, 'all', 'app', now, 1 from rows
    ), states as (
      insert into ${prefix}states (dispatch_id, body, outcomes, version)
      select dispatch_id, '[' || json_strip_nulls(json_build_object('deliveryId', delivery_id, 'channel', $1::text, 'status', 'queued',
        'acceptedAt', now, 'expiresAt', now + ${TEN_DAYS}, 'concurrencyKey', $2::text, 'address', 'ada@example.com', 'hasContent', true)) || ']',
        E'\\n' || $1 || E' open\\n', 1 from rows
    ), contents as (
      insert into ${prefix}contents (delivery_id, dispatch_id, body, version) select delivery_id, dispatch_id, $4, 1 from rows
    ), listed as (
      insert into ${prefix}listed (tenant, status, created_at, dispatch_id, version) select 'default', 'queued', now, dispatch_id, 1 from rows
    )
    insert into ${prefix}jobs (delivery_id, dispatch_id, tenant, channel, priority, concurrency_key, wake_at, expires_at, attempt, begun, version)
    select delivery_id, dispatch_id, 'default', $1, 1, $2, now - $3::bigint, now + ${TEN_DAYS}, 0, '', 1 from rows`,
    [channel, concurrencyKey, sinceMs, contentText('email')],
  )
  await pool.query(`analyze ${TABLES.map((table) => prefix + table).join(', ')}`)
}

const TABLES = ['dispatches', 'states', 'contents', 'jobs', 'listed']

/** Removes all rows. */
export async function empty(pool: pg.Pool, prefix = 'sallyport_'): Promise<void> {
  await pool.query(`truncate ${[...TABLES, 'idempotency_keys'].map((table) => prefix + table).join(', ')}`)
}
