import type {
  AttemptEnd,
  AttemptView,
  ConditionTrace,
  DeliveryReason,
  DeliveryStatus,
  DeliveryView,
  PreviewedDelivery,
} from '../model/dispatch.ts'
import {
  anything,
  type Component,
  component,
  flag,
  instantSchema,
  list,
  map,
  type NamedSchema,
  object,
  oneOfSchema,
  optionalSchema,
  textSchema,
  wholeSchema,
} from './model-schema.ts'

const deliveryStatus: Component<DeliveryStatus> = component(
  'DeliveryStatus',
  oneOfSchema<DeliveryStatus>(
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
  oneOfSchema<DeliveryReason>(
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
      rule: textSchema('The operator, or `function` for a condition that is one.'),
      path: optionalSchema(textSchema('What was looked up, such as `data.total`.')),
      expected: optionalSchema(anything('What it was compared with.')),
      actual: optionalSchema(anything('What was found; only of the data that was sent.')),
      result: flag(),
    },
    'One comparison of a condition, and how it came out.',
  ),
)

const attemptView: Component<AttemptView> = component(
  'Attempt',
  object<AttemptView>({
    attempt: wholeSchema(1),
    startedAt: instantSchema(),
    endedAt: optionalSchema(instantSchema()),
    outcome: optionalSchema(
      oneOfSchema<AttemptEnd['outcome'] | 'lost'>(
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
    code: optionalSchema(textSchema('What the channel gave for not having sent.')),
    provider: optionalSchema(textSchema('Which of several providers it was.')),
  }),
)

export const deliveryView: Component<DeliveryView> = component(
  'Delivery',
  object<DeliveryView>(
    {
      deliveryId: textSchema("Goes along as the provider's idempotency key."),
      channel: textSchema(),
      status: deliveryStatus,
      reason: optionalSchema(deliveryReason),
      attempts: wholeSchema(0),
      attemptLog: optionalSchema(list(attemptView, 'Oldest first; absent before the first.')),
      nextAttemptAt: optionalSchema(instantSchema('Absent when it is due at once.')),
      eventCount: optionalSchema(wholeSchema(1, 'How many events the digest holds that this is.')),
      lastCode: optionalSchema(textSchema('The last code that the channel gave for not having sent.')),
      providerMessageId: optionalSchema(textSchema()),
      trace: optionalSchema(list(conditionTrace, 'How the condition came out that skipped it.')),
    },
    "One channel's part of a dispatch.",
  ),
)

export const previewedDelivery: Component<PreviewedDelivery> = component(
  'PreviewedDelivery',
  object<PreviewedDelivery>(
    {
      channel: textSchema(),
      status: deliveryStatus,
      reason: optionalSchema(deliveryReason),
      detail: optionalSchema(textSchema('Why it would be `failed`.')),
      address: optionalSchema(textSchema('Enough to recognise it, not enough to use it.')),
      content: optionalSchema(map(anything(), 'The rendered fields by name.')),
      nextAttemptAt: optionalSchema(instantSchema('Absent when it would be due at once.')),
      trace: optionalSchema(list(conditionTrace)),
    },
    "One channel's part of a dispatch that was only planned.",
  ),
)

export const DELIVERY_SCHEMAS: readonly NamedSchema[] = [
  deliveryView,
  previewedDelivery,
  deliveryStatus,
  deliveryReason,
  attemptView,
  conditionTrace,
]
