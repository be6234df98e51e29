import type { Run } from '../../../model/run.ts'
import { Badge, Explained, Facts, Json, Shown, Time } from '../parts.tsx'
import { useRead } from '../reading.ts'
import { linkTo } from '../router.ts'
import { Screen } from '../screen.tsx'
import { explainRun } from '../sentences/run.ts'
import { count, duration, money } from '../words.ts'

export function RunScreen({ sessionId, runId }: { readonly sessionId: string; readonly runId: string }) {
  const path = `agents/sessions/${encodeURIComponent(sessionId)}/runs/${encodeURIComponent(runId)}`
  const read = useRead<Run>(path)
  return (
    <Screen title={`Run ${runId}`}>
      <Shown of={read}>
        {(run) => (
          <>
            <p class="lead">
              <Badge>{run.status}</Badge> <Explained of={explainRun(run.status, run.waitingFor)} />
            </p>
            <RunFacts of={run} />
            <Failed of={run.error} />
            <Counts of={run} />
            {run.metadata && (
              <section>
                <h2>Metadata</h2>
                <Json of={run.metadata} label="Metadata" />
              </section>
            )}
          </>
        )}
      </Shown>
    </Screen>
  )
}

function RunFacts({ of }: { readonly of: Run }) {
  const { sessionId, parentRunId, agent, timings, cost, trace } = of
  const to = (runId: string): string => linkTo(['sessions', sessionId, 'runs', runId])
  return (
    <Facts
      of={{
        Session: <a href={linkTo(['sessions', sessionId])}>{sessionId}</a>,
        Parent: parentRunId && <a href={to(parentRunId)}>{parentRunId}</a>,
        'Resumed from': of.resumedFromRunId && <a href={to(of.resumedFromRunId)}>{of.resumedFromRunId}</a>,
        Agent: [agent?.name ?? agent?.id, agent?.version].filter(Boolean).join(' '),
        Model: [of.provider, of.model].filter(Boolean).join(' '),
        User: of.userId,
        Started: timings?.startedAt && <Time at={timings.startedAt} />,
        Took: timings?.durationMs !== undefined && duration(timings.durationMs),
        'First token after': timings?.timeToFirstTokenMs !== undefined && duration(timings.timeToFirstTokenMs),
        Cost: cost && money([cost]),
        'Finish reason': of.finishReason,
        Tags: of.tags?.join(', '),
        Trace: trace && <span class="id">{trace.traceId}</span>,
        'Last post': <Time at={of.lastSeenAt} />,
      }}
    />
  )
}

function Failed({ of }: { readonly of: Run['error'] }) {
  if (!of) return null
  const { type, message } = of
  return (
    <section class="failure">
      <h2>Error {type && <code>{type}</code>}</h2>
      {message && <p class="said">{message}</p>}
      <Json of={of} label="Error" />
    </section>
  )
}

function Counts({ of }: { readonly of: Run }) {
  const counts = Object.entries(of.counts ?? {}).filter(([, value]) => value !== undefined)
  if (counts.length === 0) return null
  return (
    <section>
      <h2>Counts</h2>
      <Facts of={Object.fromEntries(counts.map(([name, value]) => [spelled(name), count(value ?? 0)]))} />
    </section>
  )
}

/** `inputTokens` becomes `Input tokens`. */
function spelled(name: string): string {
  const words = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase()
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
