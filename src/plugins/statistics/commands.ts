import type { PluginCommands } from '../../cli/command.ts'
import type { HostSallyport } from '../../cli/host-module.ts'
import type { StatisticsApi } from './statistics.ts'

const WINDOW_MS = 60_000

export const STATISTICS_COMMANDS: PluginCommands = {
  status: {
    about: 'with the plugin statistics what is due and the workers alive',
    async read({ stats }: HostSallyport & Partial<StatisticsApi>, of) {
      const live = await stats?.({ windowMs: WINDOW_MS, ...of })
      if (!live) return undefined
      const { due, workersAlive } = live
      return {
        members: { due, workersAlive },
        // A host that only records runs has nothing due.
        rows: due
          ? [
              { status: 'due', count: due.isMore ? `${due.count}+` : due.count },
              { status: 'oldest due (seconds)', count: Math.round((due.oldestMs ?? 0) / 1_000) },
              { status: 'workers alive', count: workersAlive },
            ]
          : [],
      }
    },
  },
}
