import type pg from 'pg'
import { type MergeDecision, mergeRun, type RunState, type RunStore, type RunUpdate, type Totals } from 'sallyport'
import { sqlStore } from 'sallyport/storage/sql'
import { addTotals, noTotals } from '../../../src/model/totals.ts'
import type { BenchDatabase } from './storage-databases.ts'
import { inFlight, sideBySide } from './storage-measure.ts'
import { nextId } from './storage-rows.ts'

/** So many posts make a run: it begins, works twice, and ends. */
const POSTS = 4
const DERIVED = { ended: [], pending: [] } as const

/** One client, which posts one run after the other. */
interface Poster {
  readonly sessionId: string
  runId: string
  seq: number
}

/** One post of a run, recorded by the store and by hand: the same rows in tables of the same kind. */
export async function benchRuns({ pool, kysely }: BenchDatabase): Promise<void> {
  const store = sqlStore({ db: kysely, dialect: 'postgresql' })
  await store.migrate()
  await sqlStore({ db: kysely, dialect: 'postgresql', prefix: 'bare_' }).migrate()
  for (const [places, sessions] of [
    [50, 50],
    [50, 1],
    [1, 1],
  ] as const) {
    const amount = places === 1 ? 500 : 1_500
    const measure = (record: (post: RunUpdate) => Promise<void>) => {
      // New sessions every round: what they summed up before does not make them slower.
      const ids = Array.from({ length: sessions }, () => nextId('session'))
      const free = Array.from({ length: places }, (_, at) => poster(ids[at % sessions] ?? ''))
      return inFlight(amount, places, async () => {
        const own = free.pop() as Poster
        await record(nextPost(own))
        free.unshift(own)
      })
    }
    const title = `PostgreSQL: record a post of a run, ${places} in flight, ${sessions} sessions`
    await sideBySide(title, 7, {
      store: () => measure((post) => recorded(store, post)),
      'bare pg: begin, 2 selects, 2 upserts, commit': () => measure(handWritten(pool, false)),
      'the same, each a prepared statement': () => measure(handWritten(pool, true)),
    })
  }
}

function poster(sessionId: string): Poster {
  return { sessionId, runId: '', seq: POSTS }
}

function nextPost(own: Poster): RunUpdate {
  own.seq = (own.seq % POSTS) + 1
  if (own.seq === 1) own.runId = nextId('run')
  const { sessionId, runId, seq } = own
  return {
    sessionId,
    runId,
    seq,
    status: seq === POSTS ? 'completed' : 'running',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    agent: { name: 'support-agent', version: '1.4.0' },
    timings: { startedAt: 1_768_464_000_000 },
    counts: { inputTokens: 400 * seq, outputTokens: 100 * seq, modelCalls: seq },
    tags: ['refund'],
    metadata: { ticket: 4711 },
  }
}

/** What a post makes of a run, and what it adds to its session. */
function after(before: RunState | undefined, post: RunUpdate): { readonly state: RunState; readonly add: Totals } {
  const merged = mergeRun(before, post)
  if (merged.outcome !== 'merged') throw new Error('the posts of a run contradict one another')
  const { state } = merged
  const tokens = grown(before, state, 'inputTokens') + grown(before, state, 'outputTokens')
  const runs = before ? 0 : 1
  const nothing = noTotals()
  const counts = {
    inputTokens: grown(before, state, 'inputTokens'),
    outputTokens: grown(before, state, 'outputTokens'),
    modelCalls: grown(before, state, 'modelCalls'),
  }
  const add = {
    ...nothing,
    spend: { ...nothing.spend, runs, tokens },
    counts,
    byStatus: { [state.application?.status ?? 'queued']: runs },
  }
  return { state, add }
}

function grown(before: RunState | undefined, state: RunState, count: string): number {
  return (state.application?.counts[count] ?? 0) - (before?.application?.counts[count] ?? 0)
}

async function recorded(store: RunStore, post: RunUpdate): Promise<void> {
  const { sessionId, runId } = post
  await store.mergeRun({ tenant: 'default', sessionId, runId }, ({ run }): MergeDecision<undefined> => {
    const { state, add } = after(run?.state, post)
    const totalsChanges = { session: add, descendants: [], users: [] }
    return { result: undefined, state, ...(!run && { derived: DERIVED }), touched: true, totalsChanges }
  })
}

const SESSION = 'select totals, version from bare_sessions where tenant = $1 and session_id = $2 for update'
const RUN = 'select state, version from bare_runs where tenant = $1 and session_id = $3 and run_id = $2 for update'
const WRITE_SESSION = `insert into bare_sessions (tenant, session_id, created_at, updated_at, totals, failures, version)
  values ($1, $2, $3, $3, $4, '[]', 1) on conflict (tenant, session_id) do update
  set updated_at = excluded.updated_at, totals = excluded.totals, version = bare_sessions.version + 1`
const WRITE_RUN = `insert into bare_runs (tenant, run_id, session_id, tie_breaker, status, provider, model, tags, state, derived, created_at,
    updated_at, last_seen_at, revision, open_since, over_since, version)
  values ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9, $10, $10, $10, 1, $11, $12, 1) on conflict (tenant, session_id, run_id) do update
  set status = excluded.status, provider = excluded.provider, model = excluded.model, tags = excluded.tags, state = excluded.state,
    updated_at = excluded.updated_at, last_seen_at = excluded.last_seen_at, revision = bare_runs.revision + 1,
    open_since = excluded.open_since, over_since = excluded.over_since, version = bare_runs.version + 1`

/** Reads and locks, merges here, writes: as a host without a store would. */
function handWritten(pool: pg.Pool, prepared: boolean): (post: RunUpdate) => Promise<void> {
  const ask = (client: pg.PoolClient, name: string, text: string, values: unknown[] = []) =>
    client.query({ text, values, ...(prepared && { name }) })

  async function record(client: pg.PoolClient, post: RunUpdate): Promise<void> {
    const { sessionId, runId } = post
    const query = (name: string, text: string, values: unknown[]) => ask(client, name, text, values)
    const session = await query('session', SESSION, ['default', sessionId])
    const run = await query('run', RUN, ['default', runId, sessionId])
    const { state, add } = after(run.rows[0] && JSON.parse(run.rows[0].state), post)
    const totals = noTotals()
    if (session.rows[0]) addTotals(totals, JSON.parse(session.rows[0].totals))
    addTotals(totals, add)
    const now = Date.now()
    await query('write-session', WRITE_SESSION, ['default', sessionId, now, JSON.stringify(totals)])
    const status = state.application?.status ?? 'queued'
    const over = status === 'completed' ? now : null
    const facets = [status, post.provider, post.model, '\n"refund"\n']
    const rest = [JSON.stringify(state), JSON.stringify(DERIVED), now, over === null ? now : null, over]
    await query('write-run', WRITE_RUN, ['default', runId, sessionId, ...facets, ...rest])
  }

  return async (post) => {
    const client = await pool.connect()
    try {
      await ask(client, 'begin', 'begin')
      await record(client, post)
      await ask(client, 'commit', 'commit')
    } catch (cause) {
      await client.query('rollback')
      throw cause
    } finally {
      client.release()
    }
  }
}
