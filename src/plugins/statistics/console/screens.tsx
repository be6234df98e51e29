import type { PluginScreens } from '../../../console/app/section.ts'
import { OverviewScreen } from './overview.tsx'

export const STATISTICS_SCREENS: PluginScreens = {
  sections: [{ path: '', label: 'Overview', read: 'get_statistics', order: 10, screen: () => <OverviewScreen /> }],
}
