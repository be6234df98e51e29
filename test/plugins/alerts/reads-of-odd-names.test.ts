import type { AlertsApi } from '../../../src/plugins/alerts/alerts.ts'
import { databaseKinds } from '../../storage/databases.ts'
import { describeReads } from '../../storage/odd-names.ts'

describeReads<AlertsApi>(
  [
    ['budgets.check', 'sessionId', (host, value) => host.budgets.check({ sessionId: value })],
    ['budgets.check', 'userId', (host, value) => host.budgets.check({ userId: value })],
  ],
  await databaseKinds(),
)
