import type { ProducerUsage } from './producer-usage.ts'
import { ATTRIBUTES } from './producers-attributes.ts'
import { CHAT } from './producers-chat.ts'
import { GATEWAYS } from './producers-gateways.ts'
import { MODELS } from './producers-models.ts'

/** Usage objects as their producers write them. */
export const PRODUCERS: readonly ProducerUsage[] = [...MODELS, ...CHAT, ...GATEWAYS, ...ATTRIBUTES]
