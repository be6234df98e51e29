import { expect, it } from 'vitest'
import { consent } from '../../../src/plugins/consent/consent.ts'
import { readHost } from '../../client/read-host.ts'
import { KEY } from './consenting.ts'

it('A client changes and finds suppressions, and puts no address in a URL', async () => {
  const { read, sent } = await readHost([consent({ keys: [KEY] })])
  const address = 'jane@example.com'
  expect(await read.suppressions.add({ channel: 'email', address })).toEqual({ added: true })
  expect((await read.suppressions.find({ address })).items).toMatchObject([{ reason: 'manual' }])
  expect((await read.suppressions.list({ reason: 'manual' })).items).toHaveLength(1)
  expect(await read.recipients.find({ recipient: address })).toMatchObject({ addresses: [{ channel: 'email' }] })
  const [{ addressKey = '' } = {}] = (await read.suppressions.find({ address })).items
  expect((await read.suppressions.find({ addressKey })).items).toHaveLength(1)
  expect(await read.suppressions.remove({ addressKey })).toEqual({ removed: 1 })
  expect(sent.filter(({ url }) => url.includes('jane'))).toEqual([])
})
