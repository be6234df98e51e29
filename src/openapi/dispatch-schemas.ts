import type { AttemptEnd, AttemptView, ProviderEnd } from '../model/attempt.ts'
import type {
  ConditionTrace,
  DeliveryReason,
  DeliveryStatus,
  DeliveryView,
  DispatchAnswer,
  DispatchPreview,
  DispatchStatus,
  DispatchView,
  PreviewedDelivery,
  Warning,
} from '../model/dispatch.ts'
import type { FeedbackView } from '../model/feedback.ts'
import type { SuppressionReason, SuppressionView } from '../model/suppression.ts'
import type { DeliveryWaiting, WaitCause } from '../model/waiting.ts'
import { type FieldsOf, type SchemaOf, s } from './model-schema.ts'

export const deliveryStatus: SchemaOf<DeliveryStatus> = s.component<DeliveryStatus>(
  'DeliveryStatus',
  s.oneOf('Where a delivery is.', {
    queued: 'it waits for its time',
    sending: 'a worker has it',
    sent: 'the provider took it; nothing more is claimed',
    failed: 'final',
    skipped: 'final, and no error',
    held: 'it waits for the channel before it to fail',
    cancelled: 'final',
    expired: 'final: its time was over',
  }),
)

export const deliveryReason: SchemaOf<DeliveryReason> = s.component<DeliveryReason>(
  'DeliveryReason',
  s.oneOf('Why a delivery was skipped or failed.', {
    condition_false: 'a condition of the event was false',
    no_address: 'the recipient cannot be reached here',
    opted_out: 'the recipient does not want it',
    suppressed: 'nothing is sent to the address: it bounced, complained or unsubscribed',
    throttled: 'the recipient had enough',
    fallback_unneeded: 'the channel before it did',
    sandboxed: 'sandbox mode was on',
    provider_rejected: 'the provider never will',
    channel_rejected: 'the channel cannot send this message, or to this address; no provider was asked',
    attempts_exhausted: 'no attempt came through',
    condition_error: 'a condition of the event threw',
    template_error: 'a template of the event threw',
    channel_error: 'the channel threw, or returned no outcome or address',
    record_unreadable: 'its stored record is damaged',
  }),
)

const conditionTrace = s.object<ConditionTrace>(
  'ConditionTrace',
  'One comparison of a condition, and how it came out.',
  {
    rule: s.text('The operator, or `function` for a condition that is one.'),
    path: s.optional(s.text('What was looked up, such as `data.total`.')),
    expected: s.optional(s.anything('What it was compared with.')),
    actual: s.optional(s.anything('What was found; only of the data that was sent.')),
    result: s.flag(),
  },
)

const providerEnd = s.object<ProviderEnd>('ProviderEnd', 'One of several providers, in one attempt.', {
  name: s.text(),
  code: s.optional(
    s.text('Why it did not send. Absent: it sent the message. `cooling_down`, `provider_waiting`: it was not asked.'),
  ),
})

const attemptView = s.object<AttemptView>('Attempt', undefined, {
  attempt: s.whole(1),
  startedAt: s.instant(),
  endedAt: s.optional(s.instant()),
  outcome: s.optional(
    s.oneOf<AttemptEnd['outcome'] | 'lost'>('Absent: under way.', {
      sent: 'the provider took it',
      retry: 'certainly not sent',
      unknown: 'it may have been sent',
      rejected: 'the provider never will',
      lost: 'its worker died, and it may have been sent',
    }),
  ),
  code: s.optional(s.text('What the channel gave for not having sent.')),
  provider: s.optional(s.text('Which of several providers it was.')),
  providers: s.optional(s.list(providerEnd, 'All of several providers, in the order in which they were asked.')),
  enhancedStatus: s.optional(s.text('Enhanced status code of a mail server (RFC 3463), such as `5.1.1`.')),
  omittedCopies: s.optional(s.whole(1, 'Copies that were left out: their addresses are suppressed.')),
})

const feedbackView = s.object<FeedbackView>('Feedback', 'What the provider reported about a delivery.', {
  kind: s.oneOf('Kind of the report.', {
    delivered: 'the receiving server or phone took the message',
    delayed: 'the provider tries again',
    bounced: 'the message does not arrive',
    complained: 'the recipient reported it as spam',
    opened: 'it was opened, perhaps by a scanner',
    clicked: 'a link was opened, perhaps by a scanner',
    unsubscribed: 'the recipient unsubscribed at the provider',
    resubscribed: 'the recipient subscribed again at the provider',
    unknown: 'any other event of the provider',
  }),
  at: s.instant('The first such report.'),
  code: s.optional(s.text('A word of the provider, or an enhanced status code such as `5.1.1`.')),
})

const deliveryWaiting = s.object<DeliveryWaiting>('DeliveryWaiting', 'What a delivery waits for.', {
  for: s.oneOf<WaitCause>('What it waits for.', {
    delay: 'the time that was asked for',
    digest: 'the end of its window',
    retry: 'the next attempt',
    fallback: 'the failure of the channel before it',
    quiet_hours: 'the end of quiet hours of the recipient',
    policy: 'the time that the policy gave',
    receiver_paused: 'its receiver timed out several times in a row, and is tried again later',
    unavailable: 'the policy, a plugin, the directory or a schema failed, and is asked again',
    unknown_here: 'the worker lacks its channel, event or plugin',
  }),
  until: s.optional(s.instant('When it is due. Absent for `fallback`.')),
})

const suppressionReason = s.component<SuppressionReason>(
  'SuppressionReason',
  s.oneOf('Why nothing is sent to an address.', {
    bounced: 'the address does not exist or refuses for good',
    soft_bounced: 'a message did not arrive; it expires',
    complained: 'the recipient reported a message as spam',
    unsubscribed: 'the recipient unsubscribed',
    manual: 'added by the host',
  }),
)

export const suppression: SchemaOf<SuppressionView> = s.object<SuppressionView>(
  'Suppression',
  'An address that a channel does not send to.',
  {
    channel: s.text(),
    addressKey: s.text('Keyed hash of the address, which is not stored.'),
    reason: suppressionReason,
    category: s.optional(s.text('Covers only events of this category. Absent: all.')),
    source: s.text(
      'Name of the feedback source; `link`: the recipient unsubscribed; `send`: the provider refused a message; `host`: added by a call.',
    ),
    createdAt: s.instant(),
    expiresAt: s.optional(s.instant('Absent: never.')),
  },
)

const deliveryView = s.object<DeliveryView>('Delivery', "One channel's part of a dispatch.", {
  deliveryId: s.text("Goes along as the provider's idempotency key."),
  channel: s.text(),
  status: deliveryStatus,
  reason: s.optional(deliveryReason),
  attempts: s.whole(0),
  attemptLog: s.optional(s.list(attemptView, 'Oldest first; absent before the first.')),
  nextAttemptAt: s.optional(s.instant('Absent when it is due at once.')),
  waiting: s.optional(deliveryWaiting),
  eventCount: s.optional(s.whole(1, 'How many events the digest holds that this is.')),
  lastCode: s.optional(s.text('The last code that the channel gave for not having sent.')),
  providerMessageId: s.optional(s.text()),
  trace: s.optional(s.list(conditionTrace, 'How the condition came out that skipped it.')),
  address: s.optional(
    s.text('Enough to recognise it, not enough to use it. Only with `content=true`, or with `suppressions`.'),
  ),
  suppressions: s.optional(
    s.list(
      suppression,
      'Those of its address that hold now, oldest first. Only of a delivery that is read alone, and is suppressed, or has failed and could not be sent again.',
    ),
  ),
  content: s.optional(s.map(s.anything(), 'The rendered fields by name. Only with `content=true`.')),
  feedback: s.optional(s.list(feedbackView, 'Reports of the provider, oldest first. Not in answers to a dispatch.')),
})

const previewedDelivery = s.object<PreviewedDelivery>(
  'PreviewedDelivery',
  "One channel's part of a dispatch that was only planned.",
  {
    channel: s.text(),
    status: deliveryStatus,
    reason: s.optional(deliveryReason),
    detail: s.optional(s.text('Why it would be `failed`.')),
    address: s.optional(s.text('Enough to recognise it, not enough to use it.')),
    content: s.optional(s.map(s.anything(), 'The rendered fields by name.')),
    nextAttemptAt: s.optional(s.instant('Absent when it would be due at once.')),
    waiting: s.optional(deliveryWaiting),
    trace: s.optional(s.list(conditionTrace)),
  },
)

const dispatchStatus = s.component<DispatchStatus>(
  'DispatchStatus',
  s.oneOf('The state of a dispatch, derived from its deliveries.', {
    queued: 'something is still to be sent',
    sent: 'what was to be sent is',
    partial: 'something failed, and something else was sent or may be',
    failed: 'nothing was sent, and something failed',
    skipped: 'there was nothing to send',
    cancelled: 'it was cancelled',
  }),
)

export const warning: SchemaOf<Warning> = s.object<Warning>(
  'Warning',
  'Something that was accepted but deserves a look.',
  {
    code: s.oneOf('What to look at.', {
      unknown_field: 'it is not known here and was dropped',
      clamped: 'an end before the start of its run',
      usage_unknown: 'no count of the usage is known here, and it was dropped',
      usage_conflict: 'two members of the usage contradict each other, so that the run has no calculated cost',
      usage_unread: 'a count of tokens that is not known here, so that the run has no calculated cost',
      usage_in_counts: "a provider's name among the counts, read as if it stood in the usage",
      usage_looks_exclusive: 'a count does not seem to include its part',
      usage_overruled: 'a count that was sent on its own overrules the usage',
      not_final: 'it belongs to a final status, and this post has none',
      unpriced: 'tokens for which there is no price',
      unpriced_part: 'a part of the usage for which the model has no price',
    }),
    pointer: s.text('JSON Pointer (RFC 6901) into the body that was sent.'),
    detail: s.text('For people.'),
  },
)

const DISPATCH_FIELDS: FieldsOf<Omit<DispatchView, 'by'>> = {
  dispatchId: s.text(),
  status: dispatchStatus,
  eventType: s.text(),
  recipient: s.text(),
  sessionId: s.optional(s.text()),
  priority: s.optional(s.always('urgent', 'Sent before normal ones of its channel. Absent: normal.')),
  sandboxed: s.optional(s.always(true, 'Sandbox mode was on: nothing of this is sent, ever.')),
  createdAt: s.instant(),
  deliveries: s.list(deliveryView, "In the order of the event's channels."),
}

export const dispatchView: SchemaOf<DispatchView> = s.object<DispatchView>('Dispatch', 'A stored dispatch.', {
  ...DISPATCH_FIELDS,
  by: s.text('Id of the credential or session token that dispatched it; `host`: the host itself.'),
})

export const dispatchAnswer: SchemaOf<DispatchAnswer> = s.object<DispatchAnswer>(
  'DispatchAnswer',
  'An accepted dispatch.',
  {
    ...DISPATCH_FIELDS,
    duplicate: s.flag('Whether this answers a repeated `Idempotency-Key` with what the first post got.'),
    warnings: s.list(warning),
  },
)

export const dispatchPreview: SchemaOf<DispatchPreview> = s.object<DispatchPreview>(
  'DispatchPreview',
  'What would become of an event. Nothing was stored, nothing will be sent.',
  {
    dryRun: s.always(true),
    status: dispatchStatus,
    eventType: s.text(),
    sessionId: s.optional(s.text()),
    sandboxed: s.optional(s.always(true)),
    deliveries: s.list(previewedDelivery),
    warnings: s.list(warning),
  },
)
