import type { Statistics, StatisticsBucket } from '../../../model/statistics.ts'
import { useRead, withQuery } from '../api.ts'
import { Spark } from '../charts.tsx'
import { count, duration, Facts, money, Shown } from '../parts.tsx'
import { linkTo, place, setQuery } from '../router.ts'
import { explain } from '../sentences.ts'
import { Screen } from '../shell.tsx'

/** Windows with the step of their plots. */
const WINDOWS: Readonly<Record<string, string>> = { '1h': '1m', '6h': '5m', '24h': '30m', '7d': '6h', '90d': '1d' }

const PLOTS: readonly (readonly [string, (bucket: StatisticsBucket) => number | null])[] = [
  ['Accepted dispatches', (bucket) => bucket.accepted],
  ['Sent deliveries', (bucket) => bucket.sent],
  ['Failed deliveries', (bucket) => sumOf(bucket.failed)],
  ['Retries', (bucket) => bucket.retried],
  ['Latency p95 in ms', (bucket) => bucket.latencyMs?.p95 ?? null],
  ['Runs', (bucket) => bucket.runs],
  ['Tokens', (bucket) => bucket.tokens],
]

export function OverviewScreen() {
  const window = place.value.query.get('window') ?? '1h'
  const read = useRead<Statistics>(withQuery('outbound/stats', { window, step: WINDOWS[window] ?? '1m' }))
  return (
    <Screen title="Overview">
      <form class="filters">
        <label>
          Window
          <select value={window} onChange={(event) => setQuery({ window: event.currentTarget.value })}>
            {Object.keys(WINDOWS).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </form>
      <Shown of={read}>{(statistics) => <Totals of={statistics} />}</Shown>
    </Screen>
  )
}

function Totals({ of }: { readonly of: Statistics }) {
  const { buckets, due, workersAlive } = of
  const times = buckets.map(({ startsAt }) => Date.parse(startsAt) / 1_000)
  const failed = reasonsOf(buckets, 'failed')
  const skipped = reasonsOf(buckets, 'skipped')
  const currencies = [...new Set(buckets.flatMap(({ cost }) => cost.map(({ currency }) => currency)))]
  const cost = currencies.map((currency) => ({ currency, amount: costIn(currency, buckets) }))
  return (
    <>
      {due && workersAlive === 0 && (
        <p class={due.count > 0 ? 'failure' : 'notice'} role="status">
          No worker is alive. Call <code>worker.start()</code> in one process on this store, or let a cron job call{' '}
          <code>worker.runDue()</code>.
        </p>
      )}
      {due && (
        <Facts
          of={{
            'Due now': `${count(due.count)}${due.isMore ? '+' : ''}`,
            'Oldest due': due.oldestMs === undefined ? '–' : `${duration(due.oldestMs)} ago`,
            'Workers alive': count(workersAlive),
            Cost: money(cost),
          }}
        />
      )}
      <div class="cards">
        {PLOTS.map(([label, read]) => {
          const values = buckets.map(read)
          const isLatency = label.startsWith('Latency')
          const known = values.filter((value) => value !== null)
          const total = isLatency ? (known.at(-1) ?? undefined) : known.reduce((sum, value) => sum + value, 0)
          return (
            <section class="card" key={label}>
              <h2>{label}</h2>
              <p class="big">{total === undefined ? '–' : count(total)}</p>
              <Spark label={label} times={times} values={values} />
            </section>
          )
        })}
      </div>
      <Reasons title="Why deliveries failed" of={failed} status="failed" />
      <Reasons title="Why deliveries were skipped" of={skipped} status="skipped" />
    </>
  )
}

function Reasons({
  title,
  of,
  status,
}: {
  readonly title: string
  readonly of: readonly (readonly [string, number])[]
  readonly status: string
}) {
  if (of.length === 0) return null
  return (
    <section>
      <h2>{title}</h2>
      <ul class="reasons">
        {of.map(([reason, times]) => {
          const { means, next } = explain(status, reason)
          return (
            <li key={reason}>
              <strong>{count(times)}</strong> <code>{reason}</code> {means} {next}
            </li>
          )
        })}
      </ul>
      <p>
        <a href={linkTo(['dispatches'], { status })}>Show {status} dispatches</a>
      </p>
    </section>
  )
}

function reasonsOf(
  buckets: readonly StatisticsBucket[],
  member: 'failed' | 'skipped',
): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>()
  for (const bucket of buckets)
    for (const [reason, times] of Object.entries(bucket[member])) sums.set(reason, (sums.get(reason) ?? 0) + times)
  return [...sums].sort(([, one], [, other]) => other - one)
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0)
}

/** For reading only: amounts on the server are exact. */
function costIn(currency: string, buckets: readonly StatisticsBucket[]): string {
  const amounts = buckets.flatMap(({ cost }) => cost.filter((one) => one.currency === currency))
  return amounts.reduce((sum, { amount }) => sum + Number(amount), 0).toFixed(4)
}
