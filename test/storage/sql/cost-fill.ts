import { noSpend, noTotals } from '../../../src/model/totals.ts'
import { DIALECTS, type DialectName } from '../../../src/storage/sql/dialects/dialects.ts'
import { drainTexts, type Filling, fillTexts, SERIES } from '../../support/fill-deliveries.ts'

const MINUTE = 60_000
const HOUR = 3_600_000
const TALLY = `'${JSON.stringify(noTotals())}'`
const STATE =
  '{"runId":"r","sessionId":"s","application":{"seq":-1,"earliest":{},"counts":{},"final":{},"latest":{},"metadata":{},"tags":[]}}'

type Rows = Omit<Filling, 'channel'>

/** Live workers are few: all are counted. */
const WORKERS = 50

/**
 * Live data: waiting dispatches, digests, keys, counters, runs with all their rows, feedback, what recipients want, uses of
 * tokens, statistics and heartbeats.
 */
export function fillUsedTexts(dialect: DialectName, filling: Rows): readonly string[] {
  const { name, until } = filling
  const { idOf, insert } = insertsOf(dialect, filling)
  const ofRun = { tenant: "'t'", session_id: idOf('session') }
  return [
    ...fillTexts(dialect, { ...filling, channel: 'a' }),
    ...fillTexts(dialect, { ...filling, name: `digest_${name}`, until: until + HOUR, channel: 'digests' }),
    insert('digests', { delivery_id: idOf('dlv_digest'), open_key: idOf('dlv_digest'), joined: '1', body: "'{}'" }),
    insert('members', {
      ...{ delivery_id: idOf('dlv_digest'), dispatch_id: idOf('dsp_digest'), number: '1', event_data: "'{}'" },
    }),
    insert('plan_sources', { dispatch_id: idOf('dsp'), source: "'{}'" }),
    ...rememberedTexts(dialect, filling, `${until} + ${HOUR}`),
    insert('sessions', { ...ofRun, created_at: `${until}`, updated_at: `${until}`, totals: TALLY, failures: "'[]'" }),
    insert('run_sums', { ...ofRun, run_id: idOf('run'), totals: TALLY }),
    insert('spends', {
      ...{ tenant: "'t'", user_id: idOf('user'), day: '20000', part: '0', spend: `'${JSON.stringify(noSpend())}'` },
    }),
    ...runTexts(dialect, filling),
    ...feedbackTexts(dialect, filling, until),
    insert('plugin_records', {
      ...{ kind: "'preferences'", tenant: "''", key: idOf('k1.recipient') },
      body: `'{"tenant":"t","preferences":{}}'`,
    }),
    ...tokenUseTexts(dialect, filling),
    ...statisticsTexts(dialect, filling, until, `${until} + ${HOUR}`),
    ...heartbeatTexts(dialect, { ...filling, count: WORKERS }, until + HOUR),
  ]
}

/** Deliveries are sent, runs end, and everything else is removed. */
export function drainUsedTexts(prefix: string, now: number): readonly string[] {
  const gone = [
    ...['digests', 'members', 'plan_sources', 'idempotency_keys', 'counters', 'sessions', 'run_sums', 'spends'],
    'plugin_records',
  ]
  return [
    ...drainTexts(prefix, now),
    `update ${prefix}runs set status = 'completed', open_since = null, pending_since = null, over_since = updated_at`,
    ...gone.map((table) => `delete from ${prefix}${table}`),
  ]
}

/** Data for sweeps: dispatches sent two hours ago, expired keys, counters and statistics, runs, feedback and uses of that time, dead
 * workers. */
export function fillEndedTexts(dialect: DialectName, filling: Rows): readonly string[] {
  const { prefix } = filling
  const before = { ...filling, until: filling.until - 2 * HOUR }
  return [
    ...fillTexts(dialect, { ...before, channel: 'a' }),
    ...drainTexts(prefix, before.until),
    ...rememberedTexts(dialect, before, `${before.until} - ${before.count} + n`),
    ...runTexts(dialect, before),
    ...feedbackTexts(dialect, before, before.until),
    ...statisticsTexts(dialect, before, before.until, `${before.until} - ${before.count} + n`),
    ...tokenUseTexts(dialect, before),
    ...heartbeatTexts(dialect, before, before.until),
  ]
}

export function drainEndedTexts(prefix: string): readonly string[] {
  const gone = [
    ...['states', 'contents', 'listed', 'dispatches', 'idempotency_keys', 'counters', 'runs', 'run_tags'],
    'plugin_records',
  ]
  return gone.map((table) => `delete from ${prefix}${table}`)
}

function rememberedTexts(dialect: DialectName, filling: Rows, expires_at: string): readonly string[] {
  const { idOf, insert } = insertsOf(dialect, filling)
  const tenant = "'default'"
  return [
    insert('idempotency_keys', { tenant, name: idOf('key'), fingerprint: "'f'", answer: "'{}'", expires_at }),
    insert('counters', { tenant, name: idOf('limit'), times: "'[]'", max: '1', window_ms: '1', expires_at }),
  ]
}

/** Reports, each with a suppression that expires a minute after `until`. All are of one tenant and channel. */
function feedbackTexts(dialect: DialectName, filling: Rows, until: number): readonly string[] {
  const { idOf, insert, timed } = insertsOf(dialect, filling)
  const at = `${until} - ${filling.count} + n`
  return [
    insert('plugin_records', {
      ...{ kind: "'feedback'", tenant: "'t'", key: idOf('feedback'), a: idOf('delivery:dlv'), expires_at: at },
      body: `'{"channel":"email","kind":"bounced","at":1}'`,
    }),
    insert('plugin_records', {
      ...{ kind: "'suppressions'", tenant: "''", key: idOf('suppression'), a: idOf('k1.address') },
      ...{ b: timed("'1:t'", at), expires_at: `${at} + 60000` },
      body: `'{"tenant":"t","channel":"email","reason":"bounced","source":"ses","createdAt":1}'`,
    }),
  ]
}

/** Reports of many tenants, or all of tenant `t`. Their owners are longer than their keys, and so is the index over them. */
export function fillReportTexts(dialect: DialectName, filling: Rows, ofTenants: boolean): readonly string[] {
  const { concat } = DIALECTS[dialect]
  const { idOf, insert } = insertsOf(dialect, filling)
  return [
    insert('plugin_records', {
      ...{ kind: "'feedback'", tenant: ofTenants ? idOf('tenant') : "'t'", key: idOf('report') },
      ...{ a: concat(`'${'message:'.padEnd(200, 'm')}'`, idOf('')), expires_at: `${filling.until}` },
      body: `'{"channel":"email","kind":"bounced","at":1}'`,
    }),
  ]
}

/** Uses of one tenant, each of a token and a session of its own. */
function tokenUseTexts(dialect: DialectName, filling: Rows): readonly string[] {
  const { idOf, insert, timed } = insertsOf(dialect, filling)
  const at = `${filling.until} - ${filling.count} + n`
  return [
    insert('plugin_records', {
      ...{ kind: "'token_uses'", tenant: "'t'", key: idOf('use'), expires_at: at },
      ...{ a: timed("''", at), b: timed(idOf('20:token'), at), c: timed(idOf('20:session'), at) },
      ...{ d: timed("'8:accepted'", at), body: `'{"operation":"dispatch","times":1}'` },
    }),
  ]
}

/** A counter of tenant `t` in each of many minutes, and one of each of many tenants in one hour. */
function statisticsTexts(dialect: DialectName, filling: Rows, until: number, expires_at: string): readonly string[] {
  const { idOf, insert, timed } = insertsOf(dialect, filling)
  const counts = { kind: "'statistics'", body: `'{"revision":1,"counts":{}}'`, expires_at }
  const minute = `(${until} - ${until % MINUTE}) - (${filling.count} - n) * ${MINUTE}`
  const hour = `${until - (until % HOUR)}`
  const key = (step: string, at: string): string => timed(`'${step.length}:${step}'`, at, idOf('counter'))
  return [
    insert('plugin_records', { ...counts, tenant: "'t'", key: key('minute', minute) }),
    insert('plugin_records', { ...counts, tenant: idOf('tenant'), key: key('hour', hour) }),
  ]
}

function heartbeatTexts(dialect: DialectName, filling: Rows, aliveUntil: number): readonly string[] {
  const { idOf, insert } = insertsOf(dialect, filling)
  const heartbeat = { kind: "'heartbeats'", tenant: "''", key: idOf('worker'), body: "'{}'" }
  return [insert('plugin_records', { ...heartbeat, expires_at: `${aliveUntil}` })]
}

/** Run `r` of session `s` in each of many tenants. */
export function fillNamesakeTexts(dialect: DialectName, filling: Rows): readonly string[] {
  const tenant = insertsOf(dialect, filling).idOf('tenant')
  return runTexts(dialect, filling, { tenant, session_id: "'s'", run_id: "'r'" })
}

type RunColumns = Readonly<Record<'tenant' | 'session_id' | 'run_id', string>>

/** A third of the runs are open, a third have pending events. */
function runTexts(dialect: DialectName, filling: Rows, key?: RunColumns): readonly string[] {
  const { idOf, insert } = insertsOf(dialect, filling)
  const own = key ?? { tenant: "'t'", session_id: idOf('session'), run_id: idOf('run') }
  const at = `${filling.until} - ${filling.count} + n`
  const third = (number: number): string => `case when n % 3 = ${number} then ${at} end`
  return [
    insert('runs', {
      ...{ ...own, tie_breaker: 'n', user_id: idOf('user') },
      status: `case when n % 3 = 0 then 'running' else 'completed' end`,
      ...{ tags: "'x'", state: `'${STATE}'`, derived: `'{"ended":[],"pending":[]}'`, revision: '1' },
      ...{ created_at: at, updated_at: at, last_seen_at: at },
      ...{ open_since: third(0), pending_since: third(1), over_since: third(2) },
    }),
    insert('run_tags', {
      ...{ ...own, tie_breaker: 'n' },
      ...{ tag_key: "'running'", created_at: at },
    }),
  ]
}

function insertsOf(dialect: DialectName, { prefix, name, count }: Rows) {
  const { rows, idOf } = SERIES[dialect](count)
  const { concat, quote } = DIALECTS[dialect]
  return {
    idOf: (kind: string): string => idOf(`${kind}_${name}_`),
    /** A text with a time of 13 digits. */
    timed: (names: string, at: string, rest = "''"): string => concat(names, "'000'", `(${at})`, rest),
    insert(table: string, columns: Readonly<Record<string, string>>): string {
      const names = [...Object.keys(columns), 'version'].map(quote).join(', ')
      return `insert into ${prefix}${table} (${names}) select ${Object.values(columns).join(', ')}, 1 from ${rows}`
    },
  }
}
