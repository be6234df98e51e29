import type { Run } from '../../../model/run.ts'
import { useRead } from '../api.ts'
import { Badge, duration, Facts, Json, money, Shown, Time } from '../parts.tsx'
import { linkTo } from '../router.ts'
import { Screen } from '../shell.tsx'

export function RunScreen({ sessionId, runId }: { readonly sessionId: string; readonly runId: string }) {
  const path = `agents/sessions/${encodeURIComponent(sessionId)}/runs/${encodeURIComponent(runId)}`
  const read = useRead<Run>(path)
  return (
    <Screen title={`Run ${runId}`}>
      <Shown of={read}>
        {(run) => {
          const { status, provider, model, userId, agent, parentRunId, timings, cost, error, tags, counts, metadata } =
            run
          return (
            <>
              <Facts
                of={{
                  Status: <Badge>{status}</Badge>,
                  Session: <a href={linkTo(['sessions', sessionId])}>{sessionId}</a>,
                  Parent: parentRunId && (
                    <a href={linkTo(['sessions', sessionId, 'runs', parentRunId])}>{parentRunId}</a>
                  ),
                  Agent: agent?.name,
                  Model: [provider, model].filter(Boolean).join(' '),
                  User: userId,
                  Started: timings?.startedAt && <Time at={timings.startedAt} />,
                  Took: timings?.durationMs !== undefined && duration(timings.durationMs),
                  'First token after':
                    timings?.timeToFirstTokenMs !== undefined && duration(timings.timeToFirstTokenMs),
                  Cost: cost && money([cost]),
                  Tags: tags?.join(', '),
                  'Last post': run.lastSeenAt && <Time at={run.lastSeenAt} />,
                }}
              />
              {error && (
                <section>
                  <h2>Error</h2>
                  <Json of={error} label="Error" />
                </section>
              )}
              {counts && (
                <section>
                  <h2>Counts</h2>
                  <Json of={counts} label="Counts" />
                </section>
              )}
              {metadata && (
                <section>
                  <h2>Metadata</h2>
                  <Json of={metadata} label="Metadata" />
                </section>
              )}
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}
