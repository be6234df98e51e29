import type {
  AttemptEnd,
  AttemptView,
  ConditionTrace,
  DeliveryReason,
  DeliveryStatus,
  DeliveryView,
} from '../model/dispatch.ts'
import type { PreviewedDelivery } from '../model/dispatch-preview.ts'
import {
  anything,
  type Component,
  component,
  flag,
  instant,
  list,
  map,
  type Named,
  object,
  oneOf,
  optional,
  text,
  whole,
} from './model-schema.ts'

const deliveryStatus: Component<DeliveryStatus> = component(
  'DeliveryStatus',
  oneOf<DeliveryStatus>(
    {
      queued: 'it waits for its time',
      sending: 'a worker has it',
      sent: 'the provider took it; nothing more is claimed',
      failed: 'final',
      skipped: 'final, and no error',
      held: 'it waits for the channel before it to fail',
      cancelled: 'final',
      expired: 'final: its time was over',
    },
    'Where a delivery is.',
  ),
)

const deliveryReason: Component<DeliveryReason> = component(
  'DeliveryReason',
  oneOf<DeliveryReason>(
    {
      condition_false: 'a condition of the event was false',
      no_address: 'the recipient cannot be reached here',
      opted_out: 'the recipient does not want it',
      throttled: 'the recipient had enough',
      fallback_unneeded: 'the channel before it did',
      sandboxed: 'sandbox mode was on',
      provider_rejected: 'the provider never will',
      attempts_exhausted: 'no attempt came through',
      condition_error: 'a condition of the event threw',
      template_error: 'a template of the event threw',
      channel_error: 'the channel threw, or gave no address',
    },
    'Why a delivery was skipped or failed.',
  ),
)

const conditionTrace: Component<ConditionTrace> = component(
  'ConditionTrace',
  object<ConditionTrace>(
    {
      rule: text('The operator, or `function` for a condition that is one.'),
      path: optional(text('What was looked up, such as `data.total`.')),
      expected: optional(anything('What it was compared with.')),
      actual: optional(anything('What was found; only of the data that was sent.')),
      result: flag(),
    },
    'One comparison of a condition, and how it came out.',
  ),
)

const attemptView: Component<AttemptView> = component(
  'Attempt',
  object<AttemptView>({
    attempt: whole(1),
    startedAt: instant(),
    endedAt: optional(instant()),
    outcome: optional(
      oneOf<AttemptEnd['outcome'] | 'lost'>(
        {
          sent: 'the provider took it',
          retry: 'certainly not sent',
          unknown: 'it may have been sent',
          rejected: 'the provider never will',
          lost: 'its worker died, and it may have been sent',
        },
        'Absent: under way.',
      ),
    ),
    code: optional(text('What the channel gave for not having sent.')),
    provider: optional(text('Which of several providers it was.')),
  }),
)

export const deliveryView: Component<DeliveryView> = component(
  'Delivery',
  object<DeliveryView>(
    {
      deliveryId: text("Goes along as the provider's idempotency key."),
      channel: text(),
      status: deliveryStatus,
      reason: optional(deliveryReason),
      attempts: whole(0),
      attemptLog: optional(list(attemptView, 'Oldest first; absent before the first.')),
      nextAttemptAt: optional(instant('Absent when it is due at once.')),
      eventCount: optional(whole(1, 'How many events the digest holds that this is.')),
      lastCode: optional(text('The last code that the channel gave for not having sent.')),
      providerMessageId: optional(text()),
      trace: optional(list(conditionTrace, 'How the condition came out that skipped it.')),
    },
    "One channel's part of a dispatch.",
  ),
)

export const previewedDelivery: Component<PreviewedDelivery> = component(
  'PreviewedDelivery',
  object<PreviewedDelivery>(
    {
      channel: text(),
      status: deliveryStatus,
      reason: optional(deliveryReason),
      detail: optional(text('Why it would be `failed`.')),
      address: optional(text('Enough to recognise it, not enough to use it.')),
      content: optional(map(anything(), 'The rendered fields by name.')),
      nextAttemptAt: optional(instant('Absent when it would be due at once.')),
      trace: optional(list(conditionTrace)),
    },
    "One channel's part of a dispatch that was only planned.",
  ),
)

export const DELIVERY_SCHEMAS: readonly Named[] = [
  deliveryView,
  previewedDelivery,
  deliveryStatus,
  deliveryReason,
  attemptView,
  conditionTrace,
]
