import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { testDeps } from '../../../support/deps.ts'
import { recordingChannel } from '../../../support/recording-channel.ts'
import { accepted, ORDER, post, stored } from '../dispatching.ts'

const DRY = { dryRun: 'true' }

describe('a dry run', () => {
  it('A dry run is answered 200 with the plan of each channel', async () => {
    expect(await post(testDeps(), { ...ORDER, sessionId: 's1', extra: 1 }, {}, DRY)).toEqual({
      ok: true,
      status: 200,
      headers: {},
      body: {
        dryRun: true,
        status: 'queued',
        eventType: 'order.shipped',
        sessionId: 's1',
        warnings: [{ code: 'unknown_field', pointer: '/extra', detail: 'is not known here and was dropped' }],
        deliveries: [
          {
            channel: 'email',
            status: 'queued',
            address: 'j…@example.com',
            content: { subject: 'Order A-1 shipped', html: '<p>A-1</p>' },
          },
          { channel: 'sms', status: 'skipped', reason: 'no_address' },
        ],
      },
    })
  })

  it('A dry run shows the trace of a false condition', async () => {
    const body = { ...ORDER, recipient: '+4915112345678', eventData: { orderId: 'A-1', total: 1 } }
    expect(await post(testDeps(), body, {}, DRY)).toMatchObject({
      body: {
        status: 'skipped',
        deliveries: [
          { channel: 'email', status: 'skipped', reason: 'no_address' },
          {
            channel: 'sms',
            status: 'skipped',
            reason: 'condition_false',
            trace: [{ rule: 'function', result: false }],
          },
        ],
      },
    })
  })

  it('A dry run shows which channels are held behind the first', async () => {
    const events = defineEvents({ e: { route: 'first', channels: { a: {}, b: {} } } })
    const deps = testDeps({ a: recordingChannel(), b: recordingChannel() }, { events })
    expect(await post(deps, { eventType: 'e', recipient: 'jane@example.com' }, {}, DRY)).toMatchObject({
      body: { deliveries: [{ status: 'queued' }, { status: 'held', address: 'j…@example.com' }] },
    })
  })

  it('A dry run stores nothing, sends nothing and wakes no worker', async () => {
    const woken: number[] = []
    const queue = { wake: (delayMs: number) => void woken.push(delayMs), listen: () => () => {} }
    const email = recordingChannel()
    const deps = testDeps({ email, sms: recordingChannel() }, { queue })
    await post(deps, ORDER, {}, DRY)
    expect(await stored(deps)).toEqual([])
    const claims = await deps.store.claim({ leaseMs: 1, limits: { email: 1, sms: 1 }, busy: [] })
    expect(claims.deliveries).toEqual([])
    expect([email.sent, woken]).toEqual([[], []])
  })

  it('A dry run neither stores nor replays an idempotency key', async () => {
    const deps = testDeps()
    const key = { 'idempotency-key': 'k1' }
    await post(deps, { ...ORDER, sessionId: 'other' }, key, DRY)
    expect(await accepted(deps, ORDER, key)).toMatchObject({ duplicate: false })
    expect(await post(deps, ORDER, key, DRY)).toMatchObject({ status: 200, headers: {}, body: { dryRun: true } })
  })

  it('A dry run refuses the same requests as a dispatch', async () => {
    expect(await post(testDeps(), { ...ORDER, eventType: 'nothing' }, {}, DRY)).toMatchObject({
      status: 422,
      body: { code: 'event_unknown' },
    })
    expect(await post(testDeps(), ORDER, { authorization: 'Bearer nobody' }, DRY)).toMatchObject({ status: 401 })
  })

  it.each([
    ...[
      'dryrun',
      'DRYRUN',
      'dry_run',
      'dry-run',
      'DryRun',
      ' dryRun',
      'dryRun ',
      'dry run',
      'dryRun\0',
      'ｄｒｙＲｕｎ',
    ],
    ...[
      'dryRun[]',
      'dryRun[0]',
      'dryRun%5B%5D',
      'dryRun.x',
      'options[dryRun]',
      'amp;dryRun',
      'dryRun=',
      'dyrRun',
      'dryRn',
    ],
    ...['hydra', 'limit', '', '__proto__ '],
  ])('A query with the parameter %j is refused and stores nothing', async (name) => {
    const deps = testDeps()
    expect(await post(deps, ORDER, {}, { [name]: 'true', dryRun: 'true' })).toMatchObject({
      status: 422,
      body: {
        code: 'query_invalid',
        errors: [{ pointer: '', code: 'not_allowed', detail: 'the only query parameter here is dryRun' }],
      },
    })
    expect(await stored(deps)).toEqual([])
  })

  it('A dry run shows why a channel would fail', async () => {
    const events = defineEvents({
      e: {
        channels: {
          a: {
            text: () => {
              throw new Error('no total')
            },
          },
          b: { when: () => 1 as never },
        },
      },
    })
    const deps = testDeps({ a: recordingChannel(), b: recordingChannel() }, { events })
    expect(await post(deps, { eventType: 'e', recipient: 'jane@example.com' }, {}, DRY)).toMatchObject({
      body: {
        deliveries: [
          { reason: 'template_error', detail: 'text: the template function threw' },
          {
            reason: 'condition_error',
            detail: 'the condition function returned a number; return true or false at once',
          },
        ],
      },
    })
    const failed = [
      {
        event: 'event.failed',
        fields: { channel: 'b', detail: 'the condition function returned a number; return true or false at once' },
      },
      {
        event: 'event.failed',
        fields: { channel: 'a', field: 'text', message: 'no total', stack: expect.stringContaining('dry-run.test.ts') },
      },
    ]
    expect(deps.logger.lines).toMatchObject(failed)
    const answer = await accepted(deps, { eventType: 'e', recipient: 'jane@example.com' })
    expect(answer.deliveries[0]).not.toHaveProperty('detail')
    expect(JSON.stringify(answer)).not.toContain('no total')
    expect(deps.logger.lines).toMatchObject([
      ...failed,
      ...failed,
      {
        level: 'warn',
        event: 'delivery.failed',
        fields: { channel: 'a', detail: 'text: the template function threw' },
      },
      { level: 'warn', event: 'delivery.failed', fields: { channel: 'b', reason: 'condition_error' } },
    ])
    expect(JSON.stringify(deps.logger.lines)).not.toContain('jane')
  })

  it('The query parameter dryRun accepts only true or false, sent once', async () => {
    const deps = testDeps()
    expect(await post(deps, ORDER, {}, { dryRun: 'false' })).toMatchObject({ status: 202 })
    for (const dryRun of ['1', '', 'TRUE', 'yes', 'true ', ['true', 'true'], ['true', 'false']]) {
      expect(await post(deps, ORDER, {}, { dryRun })).toMatchObject({
        status: 422,
        body: {
          code: 'query_invalid',
          detail: 'The query string cannot be accepted.',
          errors: [{ pointer: '/dryRun', code: 'invalid', detail: 'expected true or false, once' }],
        },
      })
    }
    expect(await stored(deps)).toHaveLength(1)
  })
})
