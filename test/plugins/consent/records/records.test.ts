import { expect, it } from 'vitest'
import { fakeClock } from '../../../../src/contract-tests/fake-clock.ts'
import { feedbackRecords } from '../../../../src/plugins/consent/feedback-records.ts'
import { replacePreferences } from '../../../../src/plugins/consent/stored-preferences.ts'
import { suppressionRecords } from '../../../../src/plugins/consent/suppression-records.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { testRecords } from '../../../support/record-trials.ts'
import { findRecords } from '../../../support/records.ts'
import { reportCases } from './reports.ts'
import { suppressionCases } from './suppressions.ts'

testRecords('feedback and suppressions', [...reportCases, ...suppressionCases])

const NOW = Date.UTC(2027, 0, 15)

it('Records of all versions have one form, so that processes of two versions share them', async () => {
  const store = memoryStore({ clock: fakeClock(NOW) })
  const facts = { tenant: 't', channel: 'email', addressKey: 'k1.a' }
  const suppression = { ...facts, suppressionId: 's', reason: 'bounced', source: 'ses', expiresInMs: 1_000 } as const
  const report = { ...facts, feedbackId: 'f', owner: 'delivery:d', kind: 'bounced', at: 7, code: '5.1.1' } as const
  await feedbackRecords(store).record({ feedback: [{ ...report, suppression }] })
  await suppressionRecords(store).add([
    { ...facts, suppressionId: 'n', reason: 'manual', category: 'c', source: 'host' },
  ])
  const choices = { tenant: 't', preferences: { channels: { sms: false } } }
  await replacePreferences(store, ['k1.r', 'k0.r'], { recipientKey: 'k1.r', ...choices })
  const listed = '1:t0001800000000000'.replace('1800000000000', String(NOW))
  expect(await findRecords(store, { kind: 'feedback', tenant: 't' }, 'f')).toMatchObject([
    {
      ...{ sort: ['delivery:d', null, null, null], expiresAt: NOW },
      body: { channel: 'email', addressKey: 'k1.a', kind: 'bounced', at: 7, code: '5.1.1' },
    },
  ])
  const common = { sort: ['k1.a', listed, null, null] }
  const [timed, lasting] = await findRecords(store, { kind: 'suppressions', tenant: '' }, 's', 'n')
  expect([timed, lasting].toSorted((one, other) => (String(one?.key) < String(other?.key) ? 1 : -1))).toMatchObject([
    {
      ...{ ...common, expiresAt: NOW + 1_000 },
      body: { tenant: 't', channel: 'email', reason: 'bounced', source: 'ses', createdAt: NOW },
    },
    {
      ...common,
      body: { tenant: 't', channel: 'email', reason: 'manual', category: 'c', source: 'host', createdAt: NOW },
    },
  ])
  expect(await findRecords(store, { kind: 'preferences', tenant: '' }, 'k1.r', 'k0.r')).toMatchObject([
    { key: 'k1.r', sort: [null, null, null, null], body: choices },
  ])
})

it('New preferences replace those under older keys in one change', async () => {
  const store = memoryStore({ clock: fakeClock(NOW) })
  const given = (recipientKey: string) => ({ recipientKey, tenant: 't', preferences: {} })
  const keys = async () =>
    (await findRecords(store, { kind: 'preferences', tenant: '' }, 'k1.r', 'k2.r')).map(({ key }) => key)
  await replacePreferences(store, ['k1.r'], given('k1.r'))
  await replacePreferences(store, ['k2.r', 'k1.r'], given('k2.r'))
  expect(await keys()).toEqual(['k2.r'])
  await replacePreferences(store, ['k2.r', 'k1.r'])
  expect(await keys()).toEqual([])
})
