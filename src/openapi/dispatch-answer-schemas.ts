import type { DispatchAnswer, DispatchPreview, DispatchStatus, Warning } from '../model/dispatch.ts'
import { deliveryView, previewedDelivery } from './delivery-schemas.ts'
import {
  always,
  type Component,
  component,
  flag,
  instantSchema,
  list,
  type NamedSchema,
  object,
  oneOfSchema,
  optionalSchema,
  textSchema,
} from './model-schema.ts'

const dispatchStatus: Component<DispatchStatus> = component(
  'DispatchStatus',
  oneOfSchema<DispatchStatus>(
    {
      queued: 'something is still to be sent',
      sent: 'what was to be sent is',
      partial: 'something failed, and something else was sent or may be',
      failed: 'nothing was sent, and something failed',
      skipped: 'there was nothing to send',
      cancelled: 'it was cancelled',
    },
    'The state of a dispatch, derived from its deliveries.',
  ),
)

export const warning: Component<Warning> = component(
  'Warning',
  object<Warning>(
    {
      code: oneOfSchema<Warning['code']>(
        {
          unknown_field: 'it is not known here and was dropped',
          clamped: 'an end before the start of its run',
          usage_looks_exclusive: 'a count does not seem to include its part',
          usage_overruled: 'a count that was told by itself is believed over the usage',
          not_final: 'it belongs to a final status, and this post has none',
          unpriced: 'tokens for which there is no price',
        },
        'What to look at.',
      ),
      pointer: textSchema('JSON Pointer (RFC 6901) into the body that was sent.'),
      detail: textSchema('For people.'),
    },
    'Something that was accepted but deserves a look.',
  ),
)

export const dispatchAnswer: Component<DispatchAnswer> = component(
  'DispatchAnswer',
  object<DispatchAnswer>(
    {
      dispatchId: textSchema(),
      status: dispatchStatus,
      eventType: textSchema(),
      recipient: textSchema(),
      sessionId: optionalSchema(textSchema()),
      sandboxed: optionalSchema(always(true, 'Sandbox mode was on: nothing of this is sent, ever.')),
      createdAt: instantSchema(),
      deliveries: list(deliveryView, "In the order of the event's channels."),
      duplicate: flag('Whether this answers a repeated `Idempotency-Key` with what the first post got.'),
      warnings: list(warning),
    },
    'An accepted dispatch.',
  ),
)

export const dispatchPreview: Component<DispatchPreview> = component(
  'DispatchPreview',
  object<DispatchPreview>(
    {
      dryRun: always(true),
      status: dispatchStatus,
      eventType: textSchema(),
      sessionId: optionalSchema(textSchema()),
      sandboxed: optionalSchema(always(true)),
      deliveries: list(previewedDelivery),
      warnings: list(warning),
    },
    'What would become of an event. Nothing was stored, nothing will be sent.',
  ),
)

export const DISPATCH_ANSWER_SCHEMAS: readonly NamedSchema[] = [
  dispatchAnswer,
  dispatchPreview,
  dispatchStatus,
  warning,
]
