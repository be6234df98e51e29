/** Explanation of a reason, and the next step. */
export interface Sentence {
  readonly means: string
  readonly next?: string
}

const REASONS: Readonly<Record<string, Sentence>> = {
  condition_false: {
    means: 'A condition of the event was false for this data.',
    next: 'Compare the condition below with the data that it read.',
  },
  no_address: {
    means: 'The recipient has no address for this channel.',
    next: 'Add the address in the directory of recipients, then dispatch the event again.',
  },
  opted_out: { means: 'The recipient does not want this category on this channel.' },
  suppressed: {
    means: 'The address is suppressed after a bounce, a complaint or an unsubscription.',
    next: 'Look the address up under Suppressions. Remove the suppression only if the cause is gone.',
  },
  throttled: { means: 'A limit for this recipient was spent when the event came.' },
  fallback_unneeded: { means: 'An earlier channel has sent the message.' },
  sandboxed: { means: 'This host runs in sandbox mode: it records everything and sends nothing.' },
  provider_rejected: {
    means: 'The provider refused the message for good.',
    next: 'Read the code of the last attempt: a wrong address, or a message that the provider does not accept.',
  },
  attempts_exhausted: {
    means: 'Every attempt failed, and none is left.',
    next: 'Read the codes of the attempts. Retry when the provider works again.',
  },
  condition_error: { means: 'The condition threw an error.', next: 'Correct the condition, deploy, then retry.' },
  template_error: { means: 'The template could not be rendered.', next: 'Correct the template, deploy, then retry.' },
  channel_error: {
    means: 'The channel threw an error.',
    next: 'Read the log of the host for `channel.threw`, then retry.',
  },
  receiver_paused: { means: 'The receiver timed out several times in a row, so it is paused for a while.' },
  expired: {
    means: 'It was not sent before it expired.',
    next: 'Check whether a worker runs. Retry if the message is still wanted.',
  },
}

const STATUSES: Readonly<Record<string, Sentence>> = {
  queued: { means: 'It waits for a worker.' },
  sending: { means: 'A worker is sending it now.' },
  held: { means: 'It is sent only if the channel before it fails.' },
  sent: { means: 'The provider has accepted it. Whether it arrived is in the feedback of the provider.' },
  cancelled: { means: 'It was cancelled before it was sent.' },
  expired: REASONS.expired as Sentence,
}

export function explain(status: string, reason?: string): Sentence {
  return REASONS[reason ?? ''] ?? STATUSES[status] ?? { means: reason ?? status }
}
