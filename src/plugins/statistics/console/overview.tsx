import './overview.css'
import type { ComponentChildren } from 'preact'
import { withQuery } from '../../../console/app/api.ts'
import { Empty, Explained, Facts, Link, Shown } from '../../../console/app/parts.tsx'
import { useRead } from '../../../console/app/reading.ts'
import type { Redacted } from '../../../console/app/redacted.ts'
import { place, setQuery } from '../../../console/app/router.ts'
import { Screen } from '../../../console/app/screen.tsx'
import { explainDelivery, REASONS } from '../../../console/app/sentences/delivery.ts'
import {
  type Amount,
  amountOf,
  compact,
  count,
  duration,
  instantOf,
  isNumber,
  money,
  sumOf,
  textOf,
} from '../../../console/app/words.ts'
import type { Amounts } from '../../../model/session.ts'
import type { Statistics, StatisticsBucket } from '../../../model/statistics.ts'
import { Chart } from './chart.tsx'
import type { Series, Unit } from './series.ts'

/** Windows with the step of their plots. */
const WINDOWS: Readonly<Record<string, string>> = {
  '1h': '1m',
  '6h': '5m',
  '24h': '1h',
  '7d': '6h',
  '90d': '1d',
  '400d': '1d',
}

type Bucket = Redacted<StatisticsBucket>

interface Plot {
  readonly label: string
  readonly unit: Unit
  readonly read: (bucket: Bucket) => unknown
  /** The number beside the plot. Default: the sum. */
  readonly figure?: 'latest'
}

const DELIVERIES: Unit = ['delivery', 'deliveries']
const TOKENS: Unit = ['token', 'tokens']

const PLOTS: readonly Plot[] = [
  { label: 'Accepted dispatches', unit: ['dispatch', 'dispatches'], read: ({ accepted }) => accepted },
  { label: 'Sent deliveries', unit: DELIVERIES, read: ({ sent }) => sent },
  { label: 'Failed deliveries', unit: DELIVERIES, read: ({ failed }) => sumOf(Object.values(failed)) },
  { label: 'Retries', unit: ['attempt', 'attempts'], read: ({ retried }) => retried },
  { label: 'Latency p95', unit: ['ms', 'ms'], read: ({ latencyMs }) => latencyMs?.p95, figure: 'latest' },
  { label: 'Runs', unit: ['run', 'runs'], read: ({ runs }) => runs },
  { label: 'Tokens', unit: TOKENS, read: ({ byApplication }) => byApplication.tokens },
  { label: 'Tokens that only agents reported', unit: TOKENS, read: ({ byAgent }) => byAgent.tokens },
]

export function OverviewScreen() {
  const window = place.value.query.get('window') ?? '1h'
  const step = WINDOWS[window] ?? '1m'
  const read = useRead<Statistics>(withQuery('outbound/stats', { window, step }))
  return (
    <Screen title="Overview">
      <form class="filters">
        <label>
          Window
          <select value={window} onChange={(event) => setQuery({ window: event.currentTarget.value }, 'stay')}>
            {Object.entries(WINDOWS).map(([each, step]) => (
              <option key={each} value={each}>
                {each}, by {step}
              </option>
            ))}
          </select>
        </label>
      </form>
      <Shown of={read}>{(statistics) => <Totals of={statistics} step={step} />}</Shown>
    </Screen>
  )
}

function Totals({ of, step }: { readonly of: Redacted<Statistics>; readonly step: string }) {
  const { buckets, due, workersAlive } = of
  const times = buckets.map(({ startsAt }) => instantOf(startsAt))
  const metered = buckets.map(({ byApplication }) => byApplication)
  const claimed = buckets.map(({ byAgent }) => byAgent)
  const isQuiet = buckets.every(({ accepted, sent, runs }) => [accepted, sent, runs].every((value) => value === 0))
  return (
    <>
      {due && workersAlive === 0 && (
        <p class={due.count !== 0 ? 'failure' : 'notice'} role="status">
          No worker is alive. Call <code>worker.start()</code> in one process on this store, or let a cron job call{' '}
          <code>worker.runDue()</code>.
        </p>
      )}
      <Facts
        of={{
          ...(due && {
            'Due now': count(due.count) + (due.isMore === true ? '+' : ''),
            'Oldest due': due.oldestMs === undefined ? '–' : ago(due.oldestMs),
            'Workers alive': count(workersAlive),
          }),
          Cost: money(totalCost(metered)),
          'Cost that only agents reported': money(totalCost(claimed)),
          'Not exact':
            [...metered, ...claimed].some(({ inexact }) => inexact === true) && 'a sum is greater than can be counted',
        }}
      />
      {isQuiet && (
        <Empty>
          Nothing happened in this window. Dispatch an event or post a run, or choose a longer window. Counts appear
          here within a few seconds.
        </Empty>
      )}
      <div class="cards">
        {PLOTS.map((plot) => (
          <PlotCard key={plot.label} of={plot} step={step} times={times} values={buckets.map(plot.read)} />
        ))}
      </div>
      <Reasons title="Why deliveries failed" of={reasonsOf(buckets, 'failed')} status="failed">
        <Link to={['dispatches']} query={{ status: 'failed' }}>
          Show failed dispatches
        </Link>
        , and{' '}
        <Link to={['dispatches']} query={{ status: 'partial' }}>
          those that another channel has sent
        </Link>
        .
      </Reasons>
      <Reasons title="Why deliveries were skipped" of={reasonsOf(buckets, 'skipped')} status="skipped">
        <Link to={['dispatches']} query={{ status: 'skipped' }}>
          Show dispatches of which every channel was skipped
        </Link>
        . Those that another channel has sent are among the sent ones.
      </Reasons>
    </>
  )
}

function PlotCard({
  of: { label, unit, figure },
  step,
  times,
  values,
}: {
  readonly of: Plot
  readonly step: string
  readonly times: Series['times']
  readonly values: Series['values']
}) {
  const known = values.filter((value) => value !== undefined)
  const shown = figure === 'latest' ? known.at(-1) : sumOf(known)
  return (
    <section class="card">
      <h2>{label}</h2>
      <p class="big">
        {shown === undefined ? '–' : compact(shown)} <small>{isNumber(shown) && figure === 'latest' && unit[1]}</small>
      </p>
      <Chart label={label} unit={unit} step={step} times={times} values={values} />
    </section>
  )
}

function Reasons({
  title,
  of,
  status,
  children,
}: {
  readonly title: string
  readonly of: readonly (readonly [string, unknown])[]
  readonly status: string
  readonly children: ComponentChildren
}) {
  if (of.length === 0) return null
  return (
    <section>
      <h2>{title}</h2>
      <ul class="reasons">
        {of.map(([reason, times]) => (
          <li key={reason}>
            <strong>{count(times)}</strong>
            <span>
              <code>
                {Object.hasOwn(REASONS, reason) ? (
                  <Link to={['dispatches']} query={{ reason }}>
                    {reason}
                  </Link>
                ) : (
                  reason
                )}
              </code>{' '}
              <Explained of={explainDelivery(status, reason)} />
            </span>
          </li>
        ))}
      </ul>
      <p>{children}</p>
    </section>
  )
}

function reasonsOf(buckets: readonly Bucket[], member: 'failed' | 'skipped'): readonly (readonly [string, unknown])[] {
  const counts = Map.groupBy(
    buckets.flatMap((bucket) => Object.entries(bucket[member])),
    ([reason]) => reason,
  )
  const sums = [...counts].map(([reason, each]) => [reason, sumOf(each.map(([, times]) => times))] as const)
  return sums.sort(([, one], [, other]) => (isNumber(one) && isNumber(other) ? other - one : 0))
}

function ago(ms: unknown): string {
  return isNumber(ms) ? `${duration(ms)} ago` : textOf(ms)
}

/** Sums by currency. For reading only: amounts on the server are exact. */
function totalCost(amounts: readonly Redacted<Amounts>[]): readonly Amount[] {
  const costs = Map.groupBy(
    amounts.flatMap(({ cost }) => cost),
    ({ currency }) => currency,
  )
  return [...costs].map(([currency, each]) => {
    const sum = sumOf(each.map(({ amount }) => amountOf(amount)))
    return { currency, amount: isNumber(sum) ? sum.toFixed(4) : textOf(sum) }
  })
}
