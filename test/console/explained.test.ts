import { describe, expect, it } from 'vitest'
import {
  explainDelivery,
  explainDispatch,
  explainFeedback,
  explainOutcome,
  explainProvider,
  REASONS,
  WAITS,
} from '../../src/console/app/sentences/delivery.ts'
import { explainRun } from '../../src/console/app/sentences/run.ts'
import { FEEDBACK_KINDS } from '../../src/model/feedback.ts'
import { isExplained, SENTENCE } from './explained.ts'

describe('sentences', () => {
  const all = [
    ...Object.keys(REASONS).map((reason) => [reason, explainDelivery('failed', reason)] as const),
    ...Object.keys(WAITS).map((cause) => [cause, explainDelivery('queued', undefined, cause)] as const),
    ...(['queued', 'sending', 'sent', 'failed', 'skipped', 'held', 'cancelled', 'expired'] as const).map(
      (status) => [status, explainDelivery(status)] as const,
    ),
    ...(['queued', 'sent', 'partial', 'failed', 'skipped', 'cancelled'] as const).map(
      (status) => [status, explainDispatch(status)] as const,
    ),
    ...(['queued', 'running', 'waiting', 'completed', 'incomplete', 'failed', 'cancelled', 'expired'] as const).map(
      (status) => [status, explainRun(status)] as const,
    ),
    ...(['retry', 'unknown', 'rejected', 'lost'] as const).map(
      (outcome) => [outcome, explainOutcome(outcome)] as const,
    ),
    ...FEEDBACK_KINDS.map((kind) => [kind, explainFeedback(kind)] as const),
  ]

  it.each(all)('%s says what it means and what to do next', (value, sentence) => {
    isExplained(value, sentence)
  })

  it('A dispatch that was sent and came back says so', () => {
    const bounced = { status: 'sent', feedback: [{ kind: 'bounced', at: '2026-11-27T00:00:00.000Z' }] }
    expect(explainDispatch('sent', [bounced as never]).means).toContain('reported that it came back')
    expect(explainDispatch('sent', [{ ...bounced, feedback: [{ kind: 'opened' }] } as never]).next).toBe(
      'Nothing to do.',
    )
  })

  it.each([undefined, 'cooling_down', 'provider_waiting', 'connection_failed', 'http_503'])(
    'The code %s of a provider is explained',
    (code) => {
      expect(explainProvider(code)).toMatch(SENTENCE)
    },
  )

  it('A code that a provider chose is not explained', () => {
    expect([explainProvider('odd_word'), explainProvider('toString')]).toEqual(['', ''])
  })

  it('A value that a redactor replaced is shown as it is', () => {
    expect(explainDelivery('skipped', '•••')).toEqual({ means: 'It is •••.', next: '' })
  })
})
