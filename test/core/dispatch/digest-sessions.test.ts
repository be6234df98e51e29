import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Principal } from '../../../src/model/principal.ts'
import type { AuthVerifier } from '../../../src/ports/auth-verifier.ts'
import { type TestDeps, testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, stored } from './dispatching.ts'

const events = defineEvents({ comment: { digest: { windowMs: 60_000 }, channels: { mail: {} } } })
const JANE = 'jane@example.com'

/** Accepts one application, and session tokens with a grant to comment to Jane. */
const auth: AuthVerifier = {
  async verify(token): Promise<Principal> {
    if (token === 'app') return { id: 'app', tenant: 'default' }
    const dispatch = { events: ['comment'], channels: ['mail'], recipients: [JANE] }
    return { id: token, tenant: 'default', sessionId: token, dispatch }
  },
}

async function addComment(
  deps: TestDeps,
  who: string,
  sessionId?: string,
): Promise<{ deliveryId: string; count: number }> {
  const body = { eventType: 'comment', recipient: JANE, eventData: { who }, ...(sessionId && { sessionId }) }
  const { deliveries } = await accepted(deps, body, { authorization: `Bearer ${who}` })
  const [delivery] = deliveries
  return { deliveryId: delivery?.deliveryId ?? '', count: delivery?.eventCount ?? 0 }
}

describe('the digest of an agent', () => {
  it('A session has its own digest, separate from those of applications and other sessions', async () => {
    const deps = testDeps({ mail: recordingChannel() }, { events, auth })
    const app = await addComment(deps, 'app')
    const one = await addComment(deps, 's1')
    const other = await addComment(deps, 's2')
    expect([app.count, one.count, other.count]).toEqual([1, 1, 1])
    expect(new Set([app.deliveryId, one.deliveryId, other.deliveryId]).size).toBe(3)
    expect(await addComment(deps, 's1')).toEqual({ deliveryId: one.deliveryId, count: 2 })
    expect(await addComment(deps, 'app')).toEqual({ deliveryId: app.deliveryId, count: 2 })
  })

  it('An application that names a session does not join the digest of that session', async () => {
    const deps = testDeps({ mail: recordingChannel() }, { events, auth })
    const agent = await addComment(deps, 's1')
    const app = await addComment(deps, 'app', 's1')
    expect(app.deliveryId).not.toBe(agent.deliveryId)
    expect(await stored(deps)).toHaveLength(2)
  })
})
