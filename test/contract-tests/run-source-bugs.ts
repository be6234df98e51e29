import type { RunState } from '../../src/model/run.ts'
import { addTotals, noTotals, type Totals } from '../../src/model/totals.ts'
import { type Bug, deciding } from './run-bug.ts'

/** Changes every state that a merge stores. */
const storing = (it: string, change: (state: RunState) => RunState, ...caughtBy: readonly string[]): Bug => ({
  it,
  plant: (store) =>
    deciding(store, (decision) => (decision.state ? { ...decision, state: change(decision.state) } : decision)),
  caughtBy,
})

function mixed({ agent, ...totals }: Totals): Totals {
  const sum = noTotals()
  addTotals(sum, totals)
  if (agent) addTotals(sum, agent)
  return sum
}

/** Bugs of stores that mix what applications and agents report. */
export const SOURCE_BUGS: readonly Bug[] = [
  storing(
    'stores one report for both sources',
    ({ agent, application, ...ids }) => {
      const report = agent ?? application
      return report ? { ...ids, application: report } : ids
    },
    'what an agent reports is stored apart from what an application reports',
    "a run is found by the application's value, and not by the agent's",
  ),
  storing(
    'forgets what agents report',
    ({ agent: _, ...state }) => state,
    'what an agent reports is stored apart from what an application reports',
    'a run that only an agent reports is found by what the agent reports',
    'erasing a user removes the runs whose agent has that user',
  ),
  storing(
    'prefers what agents report',
    ({ agent, application, ...ids }) => ({
      ...ids,
      ...(agent && { application: agent }),
      ...(application && { agent: application }),
    }),
    "a run is found by the application's value, and not by the agent's",
  ),
  {
    it: 'adds the sums of agents to those of applications',
    plant: (store) =>
      deciding(store, ({ totalsChanges, ...decision }) => ({
        ...decision,
        totalsChanges: totalsChanges && {
          ...totalsChanges,
          session: mixed(totalsChanges.session),
          descendants: totalsChanges.descendants.map(({ runId, add }) => ({ runId, add: mixed(add) })),
        },
      })),
    caughtBy: ['the sums of applications and of agents are kept apart'],
  },
  {
    it: "forgets the agent's user of a failure",
    plant: (store) =>
      deciding(store, ({ failures, ...decision }) => ({
        ...decision,
        failures: failures?.map(({ agentUserId: _, ...failure }) => failure),
      })),
    caughtBy: ['erasing a user removes the failures whose agent had that user, also of a removed run'],
  },
]
