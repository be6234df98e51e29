import type { PluginCommands } from '../../cli/command.ts'
import type { HostSallyport } from '../../cli/host-module.ts'
import type { ApprovalsApi } from './approvals.ts'

/** Largest count that is read. */
const MOST = 500

export const APPROVALS_COMMANDS: PluginCommands = {
  status: {
    about: 'with the plugin approvals the questions that are open',
    async read({ approvals }: HostSallyport & Partial<ApprovalsApi>, of) {
      const page = await approvals?.list({ ...of, status: 'open', limit: MOST })
      if (!page) return undefined
      const count = page.items.length
      const isMore = page.nextCursor !== undefined
      return {
        members: { openApprovals: { count, isMore } },
        rows: [{ status: 'open approvals', count: isMore ? `${count}+` : count }],
      }
    },
  },
}
