import type { FeedbackKind } from '../../../model/feedback.ts'
import type { Suppression, SuppressionReason } from '../../../model/suppression.ts'
import type { StoredFeedback } from '../../../ports/feedback-store.ts'
import type { FeedbackRecord, SuppressionRecord } from '../schema/records.ts'

/** Expiry of a suppression that never expires. */
const NEVER = Number.MAX_SAFE_INTEGER

export function feedbackOf(record: FeedbackRecord): StoredFeedback {
  return {
    feedbackId: record.feedback_id,
    tenant: record.tenant,
    channel: record.channel,
    owner: record.owner,
    kind: record.kind as FeedbackKind,
    at: record.reported_at,
    ...(record.code !== null && { code: record.code }),
    ...(record.address_key !== null && { addressKey: record.address_key }),
  }
}

export function feedbackRecord(
  report: StoredFeedback,
  { stored_at, version }: Pick<FeedbackRecord, 'stored_at' | 'version'>,
): FeedbackRecord {
  return {
    feedback_id: report.feedbackId,
    tenant: report.tenant,
    channel: report.channel,
    owner: report.owner,
    kind: report.kind,
    code: report.code ?? null,
    reported_at: report.at,
    address_key: report.addressKey ?? null,
    stored_at,
    version,
  }
}

export function suppressionOf(record: SuppressionRecord): Suppression {
  return {
    suppressionId: record.suppression_id,
    tenant: record.tenant,
    channel: record.channel,
    addressKey: record.address_key,
    reason: record.reason as SuppressionReason,
    ...(record.category !== null && { category: record.category }),
    source: record.source,
    createdAt: record.created_at,
    ...(record.expires_at !== NEVER && { expiresAt: record.expires_at }),
  }
}

export function suppressionRecord(suppression: Suppression, version: number): SuppressionRecord {
  return {
    suppression_id: suppression.suppressionId,
    tenant: suppression.tenant,
    channel: suppression.channel,
    address_key: suppression.addressKey,
    reason: suppression.reason,
    category: suppression.category ?? null,
    source: suppression.source,
    created_at: suppression.createdAt,
    expires_at: suppression.expiresAt ?? NEVER,
    version,
  }
}
