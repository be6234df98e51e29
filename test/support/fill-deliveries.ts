import { DIALECTS, type DialectName } from '../../src/storage/sql/dialects/dialects.ts'

/** Queued deliveries that the database itself writes, in the form that `accept` leaves them. */
export interface Filling {
  /** Prefix of the tables. */
  readonly prefix: string
  /** Part of the ids; unique within a table. */
  readonly name: string
  readonly count: number
  /** Acceptance and due time of the last one, epoch milliseconds. */
  readonly until: number
  /** Number accepted per millisecond. Default: 5. */
  readonly perMs?: number
  readonly channel: string
  readonly content?: string
}

const TEN_DAYS = 864_000_000

/** SQL that writes one dispatch for each delivery. */
export function fillTexts(dialect: DialectName, filling: Filling): readonly string[] {
  const { prefix, name, count, until, perMs = 5, channel, content = '{"text":"x"}' } = filling
  const { rows, idOf } = SERIES[dialect](count)
  const at = `${until} - (${count} - n) ${dialect.startsWith('m') ? 'div' : '/'} ${perMs}`
  const [dispatch, delivery] = [idOf(`dsp_${name}_`), idOf(`dlv_${name}_`)]
  const expiresAt = `${at} + ${TEN_DAYS}`
  const join = DIALECTS[dialect].concat
  const body = join(
    `'[{"deliveryId":"'`,
    delivery,
    `'","channel":"${channel}","status":"queued","acceptedAt":'`,
    `(${at})`,
    `',"expiresAt":'`,
    `(${expiresAt})`,
    `',"address":"ada@example.com","hasContent":true}]'`,
  )
  return [
    `insert into ${prefix}dispatches (dispatch_id, tenant, event_type, recipient, recipient_key, route, made_by, created_at, version)
      select ${dispatch}, 'default', 'order.shipped', 'user-1', 'user-1', 'all', 'app', ${at}, 1 from ${rows}`,
    `insert into ${prefix}states (dispatch_id, body, outcomes, version) select ${dispatch}, ${body}, '\n${channel} open\n', 1 from ${rows}`,
    `insert into ${prefix}contents (delivery_id, dispatch_id, body, version)
      select ${delivery}, ${dispatch}, '${content.replaceAll("'", "''")}', 1 from ${rows}`,
    `insert into ${prefix}jobs (delivery_id, dispatch_id, tenant, channel, priority, wake_at, expires_at, attempt, begun, version)
      select ${delivery}, ${dispatch}, 'default', '${channel}', 1, ${at}, ${expiresAt}, 0, '', 1 from ${rows}`,
    `insert into ${prefix}listed (tenant, status, created_at, dispatch_id, version)
      select 'default', 'queued', ${at}, ${dispatch}, 1 from ${rows}`,
  ]
}

/** SQL that marks all queued deliveries as sent, by way of a lease, as the store does. */
export function drainTexts(prefix: string, now: number): readonly string[] {
  return [
    `update ${prefix}jobs set wake_at = ${now} + 30000, fence = 'f'`,
    `update ${prefix}states set body = replace(body, '"queued"', '"sent"'), outcomes = replace(outcomes, ' open', ' sent')`,
    `delete from ${prefix}jobs`,
    `update ${prefix}listed set status = 'sent' where status = 'queued'`,
  ]
}

/** Numbers from 1, as `n`, and ids in their order. */
export interface Series {
  readonly rows: string
  readonly idOf: (start: string) => string
}

const MYSQL = (count: number): Series => ({
  rows: `(select seq as n from seq_1_to_${count}) s`,
  idOf: (start) => `concat('${start}', lpad(n, 8, '0'))`,
})

export const SERIES: Readonly<Record<DialectName, (count: number) => Series>> = {
  postgresql: (count) => ({
    rows: `generate_series(1::bigint, ${count}) s(n)`,
    idOf: (start) => `'${start}' || lpad(n::text, 8, '0')`,
  }),
  sqlite: (count) => ({
    rows: `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${count}) select n from s) s`,
    idOf: (start) => `'${start}' || printf('%08d', n)`,
  }),
  mysql: MYSQL,
  mariadb: MYSQL,
}
