import type { DispatchStore } from './dispatch-store.ts'
import type { FeedbackStore } from './feedback-store.ts'
import type { PreferenceStore } from './preference-store.ts'
import type { RunStore } from './run-store.ts'
import type { StatisticsStore } from './statistics-store.ts'
import type { TokenStore } from './token-store.ts'

/** Everything that a host with dispatching stores. */
export interface SallyportStore
  extends DispatchStore,
    RunStore,
    TokenStore,
    FeedbackStore,
    PreferenceStore,
    StatisticsStore {}
