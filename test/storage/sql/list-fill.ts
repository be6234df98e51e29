import { CompiledQuery, type Kysely } from 'kysely'
import { noTotals } from '../../../src/model/totals.ts'
import { DIALECTS, type DialectName } from '../../../src/storage/sql/dialects/dialects.ts'

/** Rows for lists, written in SQL as accepting and settling would leave them. */
export interface ListFilling {
  // biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
  readonly db: Kysely<any>
  readonly dialect: DialectName
  readonly prefix: string
  readonly count: number
  /** The oldest rows that match: `wanted` in each filter, and failed. The others do not match. */
  readonly wanted: number
}

/** When the first row was created; the others follow a millisecond apart. */
export const FIRST_AT = 1_700_000_000_000

/** Dispatches with one delivery each. */
export async function fillDispatches(filling: ListFilling): Promise<void> {
  const { text, named, of, run, concat } = statementsOf(filling)
  const isWanted = `n <= ${filling.wanted}`
  const status = `case when ${isWanted} then 'failed' else 'sent' end`
  const at = `${FIRST_AT} + n`
  await run(`insert into ${text('dispatches')} (dispatch_id, tenant, event_type, recipient, recipient_key, session_id, route, made_by,
      created_at, version)
    select ${of('d')}, 't', ${named('event')}, ${named('r')}, ${named('r')}, ${named('s')}, 'all', 'app', ${at}, 1`)
  const reason = `case when ${isWanted} then '","reason":"provider_rejected"' else '"' end`
  const body = concat(
    ...[`'[{"deliveryId":"'`, of('v'), `'","channel":"a","status":"'`, status, reason, `',"attempts":1,"acceptedAt":'`],
    ...[`(${at})`, `',"expiresAt":'`, `(${at})`, `',"address":"ada@example.com","hasContent":true}]'`],
  )
  const outcomes = `case when ${isWanted} then '\na provider_rejected\n' else '\na sent\n' end`
  await run(
    `insert into ${text('states')} (dispatch_id, body, outcomes, version) select ${of('d')}, ${body}, ${outcomes}, 1`,
  )
  await run(`insert into ${text('contents')} (delivery_id, dispatch_id, body, version)
    select ${of('v')}, ${of('d')}, '{"text":"x"}', 1`)
  await run(`insert into ${text('listed')} (tenant, status, created_at, dispatch_id, version)
    select 't', ${status}, ${at}, ${of('d')}, 1`)
}

/** Runs, each in its own session except the matching ones. */
export async function fillRuns(filling: ListFilling): Promise<void> {
  const { text, named, of, run, concat } = statementsOf(filling)
  const tags = `case when n <= ${filling.wanted} then ${concat(`'\n"wanted"\n'`, `''`)} else ${concat(`'\n"other"\n'`, `''`)} end`
  const latest = ['provider', 'model', 'userId'].flatMap((name) => [`'"${name}":"'`, named('s'), `'",'`]).slice(0, -1)
  const state = concat(
    `'{"runId":"'`,
    of('r'),
    `'","sessionId":"'`,
    named('s'),
    `'","application":{"status":"'`,
    statusOf(filling),
    `'","seq":-1,"earliest":{},"counts":{},"final":{},"metadata":{},"tags":["'`,
    named('t'),
    `'"],"latest":{'`,
    ...latest,
    `'"}}}'`,
  )
  const at = `${FIRST_AT} + n`
  await run(`insert into ${text('runs')} (tenant, run_id, session_id, tie_breaker, status, provider, model, user_id, tags, state, derived,
      created_at, updated_at, last_seen_at, revision, over_since, version)
    select 't', ${of('r')}, ${named('s')}, n, ${statusOf(filling)}, ${named('p')}, ${named('m')}, ${named('u')}, ${tags}, ${state},
      '{"ended":[],"pending":[]}', ${at}, ${at}, ${at}, 1, ${at}, 1`)
  await run(`insert into ${text('run_tags')} (run_id, session_id, tenant, tie_breaker, tag_key, created_at, version)
    select ${of('r')}, ${named('s')}, 't', n, case when n <= ${filling.wanted} then 'wanted' else 'other' end, ${at}, 1`)
}

/** Suppressions of one tenant, none of which has expired. */
export async function fillSuppressions(filling: ListFilling): Promise<void> {
  const { concat, text, quote, of, run } = statementsOf(filling)
  await run(`insert into ${text('plugin_records')} (kind, tenant, ${quote('key')}, a, b, body, version)
    select 'suppressions', '', ${of('s')}, ${of('k')}, ${concat("'1:t000'", `(${FIRST_AT} + n)`)},
      '{"tenant":"t","channel":"email","reason":"bounced","source":"ses","createdAt":1}', 1`)
}

export async function fillSessions(filling: ListFilling): Promise<void> {
  const { text, of, run } = statementsOf(filling)
  const totals = `'${JSON.stringify(noTotals())}'`
  await run(`insert into ${text('sessions')} (tenant, session_id, created_at, updated_at, totals, failures, version)
    select 't', ${of('s')}, ${FIRST_AT} + n, ${FIRST_AT} + n, ${totals}, '[]', 1`)
}

/** Counts of one tenant, one counter a minute. */
export async function fillStatistics(filling: ListFilling): Promise<void> {
  const { concat, text, quote, of, run } = statementsOf(filling)
  await run(`insert into ${text('plugin_records')} (kind, tenant, ${quote('key')}, expires_at, body, version)
    select 'statistics', 't', ${concat("'6:minute000'", `(${FIRST_AT} + 60000 * n)`, of('c'))}, ${Number.MAX_SAFE_INTEGER},
      '{"revision":1,"counts":{}}', 1`)
}

/** Uses of one tenant. The matching ones are of one token and one session, and refused. */
export async function fillTokenUses(filling: ListFilling): Promise<void> {
  const { concat, text, quote, of, run } = statementsOf(filling)
  const timed = (wanted: string, other: string): string =>
    concat(`case when n <= ${filling.wanted} then '${wanted}' else '${other}' end`, "'000'", `(${FIRST_AT} + n)`)
  const name = timed('6:wanted', '5:other')
  await run(`insert into ${text('plugin_records')} (kind, tenant, ${quote('key')}, a, b, c, d, expires_at, body, version)
    select 'token_uses', 't', ${of('u')}, ${timed('', '')}, ${name}, ${name}, ${timed('7:refused', '8:accepted')}, ${FIRST_AT} + n,
      '{"operation":"dispatch","times":1}', 1`)
}

function statusOf({ wanted }: ListFilling): string {
  return `case when n <= ${wanted} then 'failed' else 'completed' end`
}

function statementsOf({ db, dialect, prefix, count, wanted }: ListFilling) {
  const { concat, quote } = DIALECTS[dialect]
  const series = {
    postgresql: `generate_series(1, ${count}) as x(n)`,
    sqlite: `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${count}) select n from s) as x`,
    mariadb: `(select seq as n from seq_1_to_${count}) as x`,
    mysql: '',
  }[dialect]
  const written = dialect === 'postgresql' || dialect === 'sqlite' ? '(100000000 + n)' : 'cast(100000000 + n as char)'
  return {
    ...{ concat, quote },
    text: (table: string) => quote(`${prefix}${table}`),
    /** An id in the order of the rows. */
    of: (letter: string) => concat(`'${letter}'`, written),
    /** The matching value, or one of a thousand others. */
    named: (letter: string) =>
      `case when n <= ${wanted} then 'wanted' else ${concat(`'${letter}'`, dialect === 'mariadb' ? 'cast(n % 1000 as char)' : '(n % 1000)')} end`,
    run: (select: string) => db.executeQuery(CompiledQuery.raw(`${select} from ${series}`)),
  }
}
