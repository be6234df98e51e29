import { describe, expect, it } from 'vitest'
import { appSecrets, sessionTokens } from '../../../src/auth/index.ts'
import { createClient } from '../../../src/client/client.ts'
import { isClientError } from '../../../src/client/client-error.ts'
import { isRefused } from '../../../src/core/answers/result.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { canonicalJson } from '../../../src/core/json/canonical-json.ts'
import { checkJsonSafety } from '../../../src/core/json/safety-check.ts'
import { mergeRun } from '../../../src/core/runs/merge/merge-run.ts'
import { viewRun } from '../../../src/core/runs/merge/selectors.ts'
import { normaliseRun } from '../../../src/core/runs/normalise-run.ts'
import { validateSessionRun } from '../../../src/core/runs/session-run-schema.ts'
import { isSallyportError, PROBLEM_CODES } from '../../../src/errors.ts'
import type { RunState, RunUpdate } from '../../../src/model/run.ts'
import { forge } from '../../auth/forge.ts'
import { CLAIMS, HEADER, KEYS } from '../../auth/session-token-fixtures.ts'
import { fc, SEED } from '../../support/properties.ts'
import { watchBuiltins } from './builtins.ts'
import { hostileBody, hostileRun, parsed } from './hostile-requests.ts'
import { CANARY } from './hostile-texts.ts'
import { PATIENCE_MS, scale } from './scale.ts'
import { events, SECRET } from './shop.ts'
import { VALID_RUNS } from './valid-bodies.ts'

const AT = Date.parse('2026-11-21T08:00:00Z')
const bodies = { numRuns: scale(500) }

/** Gives the valid part of a body as an update of one run. */
function updateOf(body: unknown): RunUpdate | undefined {
  const valid = validateSessionRun(body, AT)
  if (isRefused(valid)) return undefined
  const { parentRunId: _, resumedFromRunId: __, attempt: ___, ...update } = normaliseRun(valid.value).update
  return { ...update, runId: 'r', sessionId: 's' }
}

function merged(updates: readonly RunUpdate[]): RunState | undefined {
  return updates.reduce<RunState | undefined>((state, update) => {
    const merge = mergeRun(state, update)
    if (merge.outcome !== 'merged') throw new Error(`a conflict of ${merge.fields.join()}`)
    return merge.state
  }, undefined)
}

describe(`${bodies.numRuns} hostile bodies of seed ${SEED}`, { timeout: PATIENCE_MS }, () => {
  it('Valid hostile runs merge to one state in any order, any number of times', () => {
    let merges = 0
    const posts = fc.array(hostileRun, { minLength: 1, maxLength: 4 })
    const check = watchBuiltins()
    fc.assert(
      fc.property(posts, fc.nat(), (sent, turn) => {
        const updates = sent.flatMap((body) => updateOf(parsed(body)) ?? [])
        const at = turn % (updates.length + 1)
        const state = merged(updates)
        const others = merged([...updates.slice(at), ...updates, ...updates.slice(0, at).reverse()])
        expect(canonicalJson(others)).toBe(canonicalJson(state))
        for (const update of updates)
          expect(mergeRun(state, update)).toMatchObject({ outcome: 'merged', changed: false })
        if (state)
          viewRun({
            state,
            tenant: 't',
            derived: { ended: [], pending: [] },
            createdAt: 0,
            updatedAt: 0,
            lastSeenAt: 0,
            revision: 1,
          })
        merges += updates.length
      }),
      { ...bodies, examples: [[VALID_RUNS.map((body) => JSON.stringify(body('r'))), 2]] },
    )
    check()
    expect(merges).toBeGreaterThan(bodies.numRuns / 4)
  })

  it('Every event validates hostile data without leaking values', async () => {
    await fc.assert(
      fc.asyncProperty(hostileBody, async (text) => {
        const body = parsed(text)
        if (checkJsonSafety(body).length > 0) return
        for (const eventType of events.eventTypes) {
          const outcome = await events.find(eventType)?.checkData(Object(body))
          expect(['valid', 'invalid']).toContain(outcome?.outcome)
          if (outcome?.outcome === 'invalid') expect(JSON.stringify(outcome.issues)).not.toContain(CANARY)
        }
        expect(events.find(text)).toBe(undefined)
      }),
      bodies,
    )
  })

  it('Hostile event definitions are accepted or refused with events_invalid', () => {
    fc.assert(
      fc.property(hostileBody, fc.constantFrom('whole', 'event', 'channel'), (text, place) => {
        const body = parsed(text)
        const definitions = place === 'whole' ? body : { e: place === 'event' ? body : { channels: { c: body } } }
        try {
          defineEvents(definitions as Parameters<typeof defineEvents>[0])
        } catch (error) {
          expect(isSallyportError(error) && error.code).toBe('events_invalid')
        }
      }),
      bodies,
    )
  })

  it('The client returns a hostile answer unchanged or throws an error with a known code', async () => {
    const codes = [...PROBLEM_CODES, 'timeout', 'network', 'bad_answer']
    const status = fc.constantFrom(200, 202, 204, 400, 401, 409, 422, 429, 500, 503, 599)
    const retryAfter = fc.constantFrom(null, '', '-1', '1e400', 'NaN', CANARY, 'Sat, 21 Nov 2026 08:00:00 GMT')
    await fc.assert(
      fc.asyncProperty(hostileBody, status, retryAfter, async (text, code, after) => {
        const body = parsed(text)
        const client = createClient({
          baseUrl: 'http://localhost',
          token: 't',
          retries: 0,
          fetch: async () => ({ ok: code < 300, status: code, headers: { get: () => after }, json: async () => body }),
        })
        for (const call of [
          () => client.dispatch({ eventType: 'e', recipient: 'r' }),
          () => client.recordRuns([{ sessionId: 's', run: { runId: 'r' } }]),
        ]) {
          const answer = await call().catch((error: unknown) => ({ error }))
          if ('error' in answer && isClientError(answer.error)) expect(codes).toContain(answer.error.code)
          else expect(answer).toBe(body)
        }
      }),
      bodies,
    )
  })

  it('Verifiers refuse every hostile token', async () => {
    const sessions = sessionTokens({ keys: KEYS, audience: 'api', clock: { now: () => (CLAIMS.iat + 1) * 1000 } })
    const secrets = appSecrets([SECRET])
    const token = fc.oneof(
      hostileBody,
      hostileBody.map((claims) => forge(HEADER, claims)),
      hostileBody.map((kid) => forge({ ...HEADER, kid }, CLAIMS)),
      hostileBody.map((alg) => forge({ ...HEADER, alg }, CLAIMS)),
      hostileBody.map((sid) => forge(HEADER, { ...CLAIMS, sid: [sid] })),
      hostileBody.map((grant) => forge(HEADER, { ...CLAIMS, grants: { dispatch: grant } })),
      hostileBody.map((tail) => SECRET.slice(0, -1) + tail),
    )
    expect(await sessions.verify(forge(HEADER, CLAIMS), 'session_run')).toMatchObject({ sessionId: CLAIMS.sid })
    await fc.assert(
      fc.asyncProperty(token, async (sent) => {
        for (const verifier of [sessions, secrets])
          expect(await verifier.verify(sent, 'session_run')).toMatchObject({ refused: 'invalid_token' })
      }),
      bodies,
    )
  })
})
