import type { PluginScreens } from '../../../console/app/section.ts'
import { ApprovalScreen } from './approval.tsx'
import { ApprovalsScreen } from './approvals.tsx'

export const APPROVALS_SCREENS: PluginScreens = {
  sections: [
    {
      path: 'approvals',
      label: 'Approvals',
      read: 'list_approvals',
      order: 65,
      screen: (sessionId, approvalId) =>
        sessionId && approvalId ? (
          <ApprovalScreen sessionId={sessionId} approvalId={approvalId} key={`${sessionId} ${approvalId}`} />
        ) : (
          <ApprovalsScreen />
        ),
    },
  ],
}
