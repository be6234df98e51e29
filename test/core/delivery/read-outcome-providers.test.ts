import { expect, it } from 'vitest'
import { viewDispatch } from '../../../src/core/dispatch/dispatch-view.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { stored } from '../dispatch/dispatching.ts'
import { attempt, delivery, depsFor } from './attempting.ts'

const SENT = { outcome: 'sent', provider: 'postmark' }

/** `providers` of the stored attempt after this outcome of a channel. */
async function storedAfter(outcome: object): Promise<unknown> {
  const deps = await depsFor(recordingChannel([outcome as SendOutcome]))
  await attempt(deps)
  return (await delivery(deps)).attemptLog[0]?.providers
}

it('An attempt stores each provider that a channel asked, with its code', async () => {
  const providers = [{ name: 'ses', code: 'connection_failed' }, { name: 'postmark' }]
  expect(await storedAfter({ ...SENT, providers })).toEqual(providers)
  const failed = [{ name: 'postmark', code: 'busy' }]
  expect(await storedAfter({ outcome: 'retry', code: 'busy', provider: 'postmark', providers: failed })).toEqual(failed)
})

it.each([
  ['none', undefined],
  ['text', 'ses'],
  ['object', { name: 'ses' }],
  ['null', null],
  ['empty', []],
])('An attempt is stored without providers that are %s', async (_what, providers) => {
  expect(await storedAfter({ ...SENT, providers })).toBeUndefined()
})

it('Providers with invalid names are dropped, and invalid codes are not stored', async () => {
  const names = ['', 'x'.repeat(65), 'two words', 'ä', 7, undefined].map((name) => ({ name, code: 'busy' }))
  const providers = [
    ...names,
    null,
    'ses',
    { name: 'a', code: '550 no such user' },
    { name: 'b' },
    { name: 'c', code: 7 },
  ]
  expect(await storedAfter({ ...SENT, providers })).toEqual(
    ['a', 'b', 'c'].map((name) => ({ name, code: 'code_invalid' })),
  )
})

it('Only the provider that sent has no code', async () => {
  const providers = [
    { name: 'ses', code: undefined },
    { name: 'postmark', code: 'ok' },
  ]
  expect(await storedAfter({ ...SENT, providers })).toEqual([
    { name: 'ses', code: 'code_invalid' },
    { name: 'postmark' },
  ])
})

it('At most 16 providers of an attempt are stored', async () => {
  const providers = Array.from({ length: 20 }, (_, index) => ({ name: `p${index}`, code: 'busy' }))
  expect(await storedAfter({ ...SENT, providers })).toEqual(providers.slice(0, 16))
})

it('A provider that did not send while the attempt continued is logged as a warning', async () => {
  const providers = [
    { name: 'mailgun', code: 'cooling_down' },
    { name: 'sparkpost', code: 'provider_waiting' },
    { name: 'ses', code: 'connection_failed' },
    { name: 'postmark', code: 'busy' },
  ]
  const outcome = { outcome: 'retry', code: 'busy', provider: 'postmark', providers } as const
  const deps = await depsFor(recordingChannel([outcome]))
  await attempt(deps)
  const failed = deps.logger.lines.filter(({ event }) => event === 'provider.failed')
  const fields = { attempt: 1, deliveryId: 'dlv_2', dispatchId: 'dsp_1', channel: 'a' }
  expect(failed).toEqual([
    { level: 'warn', event: 'provider.failed', fields: { ...fields, provider: 'ses', code: 'connection_failed' } },
  ])
})

it('A dispatch view shows the providers of an attempt and shares none with the store', async () => {
  const providers = [{ name: 'ses', code: 'busy' }, { name: 'postmark' }]
  const deps = await depsFor(recordingChannel([{ outcome: 'sent', provider: 'postmark', providers }]))
  await attempt(deps)
  const [dispatch] = await stored(deps)
  if (!dispatch) throw new Error('nothing is stored')
  const [shown] = viewDispatch(dispatch, 0).deliveries[0]?.attemptLog ?? []
  expect(shown).toMatchObject({ outcome: 'sent', provider: 'postmark', providers })
  expect(shown?.providers?.[0]).not.toBe(dispatch.deliveries[0]?.attemptLog[0]?.providers?.[0])
})
