import type { Run } from '../../../model/run.ts'
import { Badge, Explained, Facts, Json, Link, Shown, Time } from '../parts.tsx'
import { useRead } from '../reading.ts'
import type { Redacted } from '../redacted.ts'
import { Screen } from '../screen.tsx'
import { explainRun } from '../sentences/run.ts'
import { count, duration, joined, money, textOf } from '../words.ts'

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

function RunFacts({ of }: { readonly of: Redacted<Run> }) {
  const { sessionId, parentRunId, agent, timings, cost, trace } = of
  const runLink = (runId: unknown) => runId !== undefined && <Link to={['sessions', sessionId, 'runs', runId]} />
  return (
    <Facts
      of={{
        Session: <Link to={['sessions', sessionId]} />,
        Parent: runLink(parentRunId),
        'Resumed from': runLink(of.resumedFromRunId),
        Agent: joined(agent?.name === undefined ? agent?.id : agent.name, agent?.version),
        Model: joined(of.provider, of.model),
        User: of.userId !== undefined && (
          <Link to={['runs']} query={{ userId: of.userId }}>
            {of.userId}
          </Link>
        ),
        Started: timings?.startedAt !== undefined && <Time at={timings.startedAt} />,
        Took: duration(timings?.durationMs),
        'First token after': duration(timings?.timeToFirstTokenMs),
        Cost: cost ? money([cost]) : of.usageDoubt === true && 'not calculated: some counts may be wrong',
        'Finish reason': textOf(of.finishReason),
        Tags: of.tags?.map(textOf).join(', '),
        Trace: trace && <span class="id">{textOf(trace.traceId)}</span>,
        'Last post': <Time at={of.lastSeenAt} />,
        'Reported by agents alone': of.byAgent?.map(textOf).join(', '),
      }}
    />
  )
}

function Failed({ of }: { readonly of: Redacted<Run['error']> }) {
  if (!of) return null
  const { type, message } = of
  return (
    <section class="failure">
      <h2>Error {type !== undefined && <code>{textOf(type)}</code>}</h2>
      {message !== undefined && <p class="said">{textOf(message)}</p>}
      <Json of={of} label="Error" />
    </section>
  )
}

function Counts({ of }: { readonly of: Redacted<Run> }) {
  const counts = Object.entries(of.counts ?? {}).filter(([, value]) => value !== undefined)
  if (counts.length === 0) return null
  return (
    <section>
      <h2>Counts</h2>
      <Facts of={Object.fromEntries(counts.map(([name, value]) => [spelled(name), count(value)]))} />
    </section>
  )
}

/** `inputTokens` becomes `Input tokens`. */
function spelled(name: string): string {
  const words = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase()
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
