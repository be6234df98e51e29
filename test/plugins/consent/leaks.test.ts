import { expect, it } from 'vitest'
import type { FeedbackReceipt } from '../../../src/ports/feedback-source.ts'
import { bodiesOf, fetched } from '../../hostile/leaks/refused-bodies.ts'
import { openTestApp } from '../../hostile/leaks/test-app.ts'

async function fails(): Promise<FeedbackReceipt> {
  throw new Error('the certificate cannot be fetched')
}

it.each([
  ['proof_invalid', async (): Promise<FeedbackReceipt> => ({ outcome: 'refused' })],
  ['feedback_unavailable', fails],
] as const)('Feedback that is refused as %s shows no secret', async (code, receive) => {
  const ses = { tenant: 'default', channel: 'email', receive }
  const app = await openTestApp({ pluginOptions: { consent: { feedback: { ses } } } })
  const answer = await fetched(app, '/api/outbound/feedback/ses', bodiesOf(app), false)
  expect(answer.body.code).toBe(code)
})
