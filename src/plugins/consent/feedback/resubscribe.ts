import { port } from '../../../core/answers/fault.ts'
import type { FeedbackEvent } from '../../../ports/feedback-source.ts'
import { suppressionIdOf } from '../new-suppression.ts'
import type { FeedbackDeps } from './feedback-deps.ts'
import { type FeedbackPlace, ownerOf } from './feedback-owner.ts'

/**
 * Removes the unsubscriptions from a channel of addresses whose owners want its messages again. Call it before the events are stored: a
 * repetition then continues after a failure. An event that is stored already undoes nothing, because its owner may have stopped since.
 */
export async function resubscribe(
  events: readonly FeedbackEvent[],
  place: FeedbackPlace,
  { feedback, suppressions, addressKeys }: Pick<FeedbackDeps, 'feedback' | 'suppressions' | 'addressKeys'>,
): Promise<void> {
  for (const event of events) {
    const { kind, address } = event
    if (kind !== 'resubscribed' || address === undefined) continue
    const keys = await addressKeys.all(place.tenant, address)
    const ids = await Promise.all(
      keys.map((addressKey) => suppressionIdOf({ ...place, addressKey, reason: 'unsubscribed' })),
    )
    await port('store_unavailable', async () => {
      const known = await feedback.find([ownerOf(event, place)])
      if (!known.some((report) => report.kind === kind)) await suppressions.remove(ids)
    })
  }
}
