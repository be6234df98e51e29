import type { PluginScreens } from '../../../console/app/section.ts'
import { RecipientScreen } from './recipient.tsx'
import { DeliverySuppressions } from './suppression-list.tsx'
import { SuppressionsScreen } from './suppressions.tsx'

export const CONSENT_SCREENS: PluginScreens = {
  sections: [
    { path: 'recipients', label: 'Recipients', read: 'find_recipient', order: 30, screen: () => <RecipientScreen /> },
    {
      path: 'suppressions',
      label: 'Suppressions',
      read: 'list_suppressions',
      order: 70,
      screen: () => <SuppressionsScreen />,
    },
  ],
  delivery: ({ suppressions }) => suppressions && <DeliverySuppressions of={suppressions} />,
}
