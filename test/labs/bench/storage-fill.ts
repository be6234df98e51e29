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
    )
    insert into ${prefix}deliveries (delivery_id, dispatch_id, tenant, created_at, dispatch_status, place, channel, concurrency_key, status, attempts, attempts_before,
      attempt_log, accepted_at, expires_at, wake_at, alone, address, content, version)
    select delivery_id, dispatch_id, 'default', now, 'queued', 0, $1, $2, 'queued', 0, 0, '', now, now + ${TEN_DAYS}, now - $3::bigint, 1, 'ada@example.com', $4, 1
    from rows`,
    [channel, concurrencyKey, sinceMs, contentText('email')],
  )
  await pool.query(`analyze ${prefix}deliveries, ${prefix}dispatches`)
}

/** Removes all rows. */
export async function empty(pool: pg.Pool, prefix = 'sallyport_'): Promise<void> {
  await pool.query(`truncate ${prefix}dispatches, ${prefix}deliveries, ${prefix}idempotency_keys`)
}
