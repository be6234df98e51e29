import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../../src/auth/index.ts'
import { AUDIENCE, GRANT, tokenHost } from './exchanging.ts'

const { secret } = await generateAppSecret({ env: 'test' })
const host = (given?: Parameters<typeof tokenHost>[1]) => tokenHost(secret, given)

const refused = (code: string, pointers: readonly string[]) => ({
  status: code === 'validation_failed' ? 422 : 403,
  body: { code, errors: pointers.map((pointer) => expect.objectContaining({ pointer })) },
})

describe('the exchange of a session token', () => {
  it('An exchanged token names its session, user, actor and parents, and ends with its parent', async () => {
    const { issue, post, clock } = host()
    const token = await issue({ dispatch: { ...GRANT, maxDispatches: 5 }, runEvents: 9 }, { userId: 'ada' })
    const parent = decodeJwt(token)
    clock.advance(1_500)
    const answer = await post('exchange', token, {
      grants: { dispatch: { ...GRANT, recipients: ['jane@example.com'], maxDispatches: 2 } },
      expiresInMs: 3_600_000,
      runId: 'sub',
    })
    expect(answer.status).toBe(201)
    const { jti, ...claims } = decodeJwt(answer.body.token)
    expect(jti).not.toBe(parent.jti)
    expect(claims).toEqual({
      ...{ sid: 's1', tnt: 'default', sub: 'ada', aud: AUDIENCE, run_id: 'sub', since: parent.since },
      ...{ iat: Math.floor(clock.now() / 1_000), exp: parent.exp },
      grants: { dispatch: { ...GRANT, recipients: ['jane@example.com'], maxDispatches: 2 }, runEvents: 9 },
      parents: [{ jti: parent.jti, maxDispatches: 5, runEvents: 9 }],
      act: { sub: 'sub', act: { sub: parent.jti } },
    })
    expect(answer.body).toEqual({
      token: answer.body.token,
      expiresAt: new Date(Number(parent.exp) * 1_000).toISOString(),
    })
  })

  it('An exchanged token lives 15 minutes by default, or as long as requested', async () => {
    const { issue, post, clock } = host()
    const token = await issue({}, { expiresInSeconds: 3_600 })
    for (const [expiresInMs, seconds] of [
      [undefined, 900],
      [60_000, 60],
      [1_999, 1],
    ] as const) {
      const { body } = await post('exchange', token, { grants: {}, ...(expiresInMs && { expiresInMs }) })
      expect(Number(decodeJwt(body.token).exp) - Math.floor(clock.now() / 1_000)).toBe(seconds)
    }
  })

  it('Absent limits of an exchanged token are those of its parent', async () => {
    const { issue, exchange } = host()
    const token = await issue({ dispatch: { ...GRANT, maxDispatches: 5 }, runEvents: 100 })
    expect(decodeJwt(await exchange(token, { grants: { dispatch: GRANT } })).grants).toEqual({
      dispatch: { ...GRANT, maxDispatches: 5 },
      runEvents: 20,
    })
    expect(decodeJwt(await exchange(await issue({ runEvents: 0 }))).grants).toEqual({ runEvents: 0 })
    expect(decodeJwt(await exchange(await issue({ dispatch: GRANT }), { grants: { dispatch: GRANT } })).grants).toEqual(
      {
        dispatch: GRANT,
        runEvents: 20,
      },
    )
  })

  it('An exchanged token may do what it was granted, and nothing else', async () => {
    const { issue, exchange, dispatch, run } = host()
    const token = await issue({ dispatch: GRANT })
    const narrow = await exchange(token, { grants: { dispatch: { ...GRANT, recipients: ['joe@example.com'] } } })
    expect((await dispatch(narrow, 'joe@example.com')).status).toBe(202)
    expect((await dispatch(narrow)).body.code).toBe('insufficient_scope')
    expect((await run(narrow)).status).toBe(201)
    const recorder = await exchange(token)
    expect((await run(recorder, 'r2')).status).toBe(201)
    expect((await dispatch(recorder)).body.code).toBe('insufficient_scope')
  })

  it('A token for one run records only that run, and so do the tokens that are exchanged from it', async () => {
    const { issue, exchange, post, run } = host()
    const token = await exchange(await issue(), { runId: 'sub' })
    expect((await run(token, 'sub')).status).toBe(201)
    expect(await run(token, 'other')).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', detail: 'The session token belongs to another run.' },
    })
    const inherited = await exchange(token)
    expect((await run(inherited, 'sub')).status).toBe(200)
    expect((await run(inherited, 'other')).status).toBe(403)
    const wider = await post('exchange', token, { grants: {}, runId: 'other' })
    expect(wider).toMatchObject(refused('insufficient_scope', ['/runId']))
    expect(wider.body.detail).toBe('The request exceeds what the token allows.')
  })

  it('Dispatches are charged to the token and to all its parents', async () => {
    const { issue, exchange, dispatch } = host()
    const grants = (maxDispatches: number) => ({ dispatch: { ...GRANT, maxDispatches } })
    const root = await issue(grants(5))
    const child = await exchange(root, { grants: grants(3) })
    const grandchild = await exchange(child, { grants: grants(3) })
    const sibling = await exchange(root, { grants: grants(5) })
    const outcomes = async (token: string, times: number) => {
      const codes: string[] = []
      for (let at = 0; at < times; at++) codes.push((await dispatch(token)).body.code ?? 'accepted')
      return codes
    }
    expect(await outcomes(grandchild, 2)).toEqual(['accepted', 'accepted'])
    expect(await outcomes(child, 2)).toEqual(['accepted', 'grant_spent'])
    expect(await outcomes(grandchild, 1)).toEqual(['grant_spent'])
    expect(await outcomes(sibling, 3)).toEqual(['accepted', 'accepted', 'grant_spent'])
    expect(await outcomes(root, 1)).toEqual(['grant_spent'])
  })

  it('Exchanged tokens share the rate limit of the token that the host issued', async () => {
    const ids: string[] = []
    const rateLimiter = {
      async consume({ scope, id }: { scope: string; id: string }) {
        if (scope === 'token') ids.push(id)
        return undefined
      },
    }
    const { issue, exchange, run } = host({ options: { rateLimiter } })
    const root = await issue()
    await run(await exchange(await exchange(root)))
    expect(new Set(ids)).toEqual(new Set([decodeJwt(root).jti]))
  })

  it('A token is exchanged over eight levels, and not over a ninth', async () => {
    const { issue, exchange, post, run } = host()
    let token = await issue()
    for (let level = 1; level <= 8; level++) token = await exchange(token)
    expect(decodeJwt(token).parents).toHaveLength(8)
    expect((await run(token)).status).toBe(201)
    expect(await post('exchange', token, { grants: {} })).toMatchObject({
      status: 403,
      body: {
        code: 'insufficient_scope',
        detail: "The token is 8 levels below the host's, and cannot be exchanged further.",
      },
    })
  })

  it('An application secret cannot be exchanged', async () => {
    expect(await host().post('exchange', secret, { grants: {} })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope', detail: 'Only a session token can be exchanged.' },
    })
  })

  it('An expired token cannot be exchanged, also within the tolerance for clocks', async () => {
    const { issue, post, clock, run } = host()
    const token = await issue({}, { expiresInSeconds: 60 })
    clock.advance(61_000)
    expect((await run(token)).status).toBe(201)
    expect(await post('exchange', token, { grants: {} })).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    })
    clock.advance(10_000)
    expect(await post('exchange', token, { grants: {} })).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    })
  })

  it('A revoked token cannot be exchanged', async () => {
    const { issue, post, sallyport } = host()
    const token = await issue()
    await sallyport.tokens.revoke({ jti: String(decodeJwt(token).jti) })
    expect(await post('exchange', token, { grants: {} })).toMatchObject({
      status: 401,
      body: { code: 'invalid_token' },
    })
  })

  it.each<[string, object, object, readonly string[]]>([
    ['an event', { dispatch: GRANT }, { dispatch: { ...GRANT, events: ['e', 'f'] } }, ['/grants/dispatch/events/1']],
    ['a channel', { dispatch: GRANT }, { dispatch: { ...GRANT, channels: ['b'] } }, ['/grants/dispatch/channels/0']],
    [
      'recipients',
      { dispatch: GRANT },
      { dispatch: { ...GRANT, recipients: ['x@example.com', 'jane@example.com', 'y@example.com'] } },
      ['/grants/dispatch/recipients/0', '/grants/dispatch/recipients/2'],
    ],
    ['any dispatch', {}, { dispatch: GRANT }, ['/grants/dispatch']],
    [
      'more dispatches',
      { dispatch: { ...GRANT, maxDispatches: 5 } },
      { dispatch: { ...GRANT, maxDispatches: 6 } },
      ['/grants/dispatch/maxDispatches'],
    ],
    ['more run events', { runEvents: 5 }, { runEvents: 6 }, ['/grants/runEvents']],
    ['more run events than by default', {}, { runEvents: 21 }, ['/grants/runEvents']],
    [
      'several things',
      { dispatch: GRANT, runEvents: 0 },
      { dispatch: { ...GRANT, events: ['f'], channels: ['b'] }, runEvents: 1 },
      ['/grants/dispatch/events/0', '/grants/dispatch/channels/0', '/grants/runEvents'],
    ],
  ])('A token cannot be exchanged for one with %s beyond its grants', async (_, parent, grants, pointers) => {
    const { issue, post } = host()
    expect(await post('exchange', await issue(parent), { grants })).toMatchObject(
      refused('insufficient_scope', pointers),
    )
  })

  it.each<[string, object, readonly string[]]>([
    ['zero dispatches', { grants: { dispatch: { ...GRANT, maxDispatches: 0 } } }, ['/grants/dispatch/maxDispatches']],
    ['half a dispatch', { grants: { dispatch: { ...GRANT, maxDispatches: 0.5 } } }, ['/grants/dispatch/maxDispatches']],
    [
      '1,001 dispatches',
      { grants: { dispatch: { ...GRANT, maxDispatches: 1_001 } } },
      ['/grants/dispatch/maxDispatches'],
    ],
    ['negative run events', { grants: { runEvents: -1 } }, ['/grants/runEvents']],
    ['1,001 run events', { grants: { runEvents: 1_001 } }, ['/grants/runEvents']],
    ['no grants', {}, ['/grants']],
    ['a list of grants', { grants: [] }, ['/grants']],
    [
      'a grant without recipients',
      { grants: { dispatch: { events: [], channels: [] } } },
      ['/grants/dispatch/recipients'],
    ],
    ['an empty name', { grants: { dispatch: { ...GRANT, events: [''] } } }, ['/grants/dispatch/events/0']],
    ['an unknown member', { grants: {}, scope: 'all' }, ['/scope']],
    ['an unknown grant', { grants: { refund: true } }, ['/grants/refund']],
    ['an unknown limit', { grants: { dispatch: { ...GRANT, maxPerDay: 1 } } }, ['/grants/dispatch/maxPerDay']],
    ['a run id with a space', { grants: {}, runId: 'a b' }, ['/runId']],
    ['an empty run id', { grants: {}, runId: '' }, ['/runId']],
    ['a run id of 201 characters', { grants: {}, runId: 'r'.repeat(201) }, ['/runId']],
    ['a run id that is a number', { grants: {}, runId: 5 }, ['/runId']],
    ['less than a second', { grants: {}, expiresInMs: 999 }, ['/expiresInMs']],
    ['more than a day', { grants: {}, expiresInMs: 86_400_001 }, ['/expiresInMs']],
  ])('An exchange with %s is refused with its place', async (_, body, pointers) => {
    const { issue, post } = host()
    const answer = await post('exchange', await issue({ dispatch: GRANT }), body)
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 422, code: 'validation_failed' })
    expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(
      expect.arrayContaining([...pointers]),
    )
  })

  it('A token that would not fit in a request is refused', async () => {
    const { issue, post } = host()
    const recipients = Array.from({ length: 90 }, (_, at) => `a-recipient-${at}@example.com`)
    const dispatch = { ...GRANT, recipients }
    const token = await issue({ dispatch })
    let answer = await post('exchange', token, { grants: { dispatch } })
    while (answer.status === 201) answer = await post('exchange', answer.body.token, { grants: { dispatch } })
    expect(answer).toMatchObject(refused('validation_failed', ['/grants']))
  })
})
