import type { PluginScreens } from '../../../console/app/section.ts'
import { useBudgets } from './budgets.tsx'

export const ALERTS_SCREENS: PluginScreens = { useRuns: useBudgets }
