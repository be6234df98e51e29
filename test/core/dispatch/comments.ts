import * as v from 'valibot'
import type { Sallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import type { Content, DeliveryView, DispatchView } from '../../../src/model/dispatch.ts'
import type { JsonObject } from '../../../src/model/json.ts'
import type { DeliveryPolicy } from '../../../src/ports/delivery-policy.ts'
import { composed, took } from '../../compose/composed.ts'
import type { FakeClock } from '../../support/fake-clock.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'

export const HOUR = 3_600_000
export const JANE = 'jane@example.com'

const comment = v.object({ by: v.string(), thread: v.optional(v.string(), 't1') })
const events = defineEvents(
  {
    comment: {
      data: comment,
      digest: { windowMs: HOUR, max: 3, key: ({ data }) => data.thread },
      channels: {
        mail: {
          subject: '{{ events | size }} new in {{ data.thread }}',
          text: '{% for event in events %}{{ event.by }};{% endfor %} last: {{ data.by }}',
        },
      },
    },
    raw: {
      data: comment,
      digest: { windowMs: HOUR },
      channels: { hook: {}, mail: { text: ({ events }) => events.length } },
    },
    picky: { digest: { windowMs: HOUR, key: ({ data }) => data.thread as string }, channels: { mail: {} } },
  },
  { templates: liquid() },
)

type Facts = { readonly by: string; readonly thread?: string | undefined }

export interface Comments {
  readonly sallyport: Sallyport<{ comment: Facts; raw: Facts; picky: JsonObject }>
  readonly clock: FakeClock
  readonly mail: RecordingChannel
  readonly hook: RecordingChannel
  /** Dispatches one comment; returns its only delivery. */
  addComment(
    by: string,
    thread?: string,
    recipient?: string,
    tenant?: string,
  ): Promise<DeliveryView & Pick<DispatchView, 'dispatchId'>>
}

/** A host with hourly digests of at most three comments per thread. */
export function comments(rest: { readonly policy?: DeliveryPolicy } = {}): Comments {
  const mail = recordingChannel()
  const hook = recordingChannel()
  const { sallyport, clock } = composed(events, { channels: { mail, hook }, ...rest })
  const addComment: Comments['addComment'] = async (by, thread = 't1', recipient = JANE, tenant = 'default') => {
    const { dispatchId, deliveries } = took(
      await sallyport.dispatch({ eventType: 'comment', recipient, eventData: { by, thread } }, { tenant }),
    )
    const [delivery] = deliveries
    if (!delivery || deliveries.length > 1) throw new Error(`${deliveries.length} deliveries`)
    return { dispatchId, ...delivery }
  }
  return { sallyport, clock, mail, hook, addComment }
}

/** The sent contents in order. */
export const contents = ({ sent }: RecordingChannel): readonly Content[] => sent.map(({ content }) => content)
