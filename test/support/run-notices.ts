import type { Plugin } from '../../src/plugins/plugin.ts'
import type { StoredRun } from '../../src/ports/run-store.ts'

/** Returns the recipient of the event of a run. */
export type RecipientOf = (run: StoredRun) => string | Promise<string>

/**
 * A plugin that dispatches `run.failed` when a run fails, and so on: for tests of signals of runs.
 *
 * @param recipients The recipient of the event, by the end of the run. Other ends have no event.
 */
export function runNotices(recipients: Readonly<Record<string, RecipientOf>>): Plugin {
  return {
    name: 'runNotices',
    needs: ['dispatch'],
    setup: ({ dispatch }) => ({
      run: {
        names: Object.fromEntries(Object.keys(recipients).map((end) => [end, 'once'])),
        signals: ({ newEnd }) => (newEnd !== undefined && newEnd in recipients ? [{ name: newEnd }] : []),
        async publish(run, end) {
          const { sessionId, runId } = run.state
          const event = { eventType: `run.${end}`, recipient: (await recipients[end]?.(run)) ?? '', sessionId }
          const answer = await dispatch?.(run.tenant, event, { key: `${event.eventType} ${sessionId} ${runId}` })
          return answer?.ok === true
        },
      },
    }),
  }
}
