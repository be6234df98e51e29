import { webhook } from 'sallyport/channels/webhook'
import { afterEach, expect, test, vi } from 'vitest'
import { SECRET } from './events.ts'

afterEach(() => void vi.unstubAllGlobals())

const bun = (): unknown => vi.stubGlobal('process', { ...process, versions: { ...process.versions, bun: '1.4.5' } })
const deno = (): unknown => vi.stubGlobal('Deno', {})
const workerd = (): unknown => vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })

test.each([
  ['Bun', bun],
  ['Deno', deno],
  ['workerd', workerd],
  ['this runtime, which is not Node', () => vi.stubGlobal('process', undefined)],
  ['this runtime, which is not Node', () => vi.stubGlobal('process', { env: {} })],
])('webhook refuses to start on %s and gives the reason', (runtime, stub) => {
  stub()
  expect(() => webhook({ secret: SECRET })).toThrowError(
    expect.objectContaining({
      code: 'config_invalid',
      message: expect.stringContaining(`private networks on ${runtime}: its node:http does not promise`),
    }),
  )
})

test.each([
  ['Bun', bun],
  ['Deno', deno],
])('webhook starts on %s with allowPrivateNetworks', (_runtime, stub) => {
  stub()
  expect(webhook({ secret: SECRET, allowPrivateNetworks: true })).toBeDefined()
})

test.each([
  ['workerd', workerd],
  ['an unknown runtime', () => vi.stubGlobal('process', undefined)],
])('webhook refuses to start on %s with allowPrivateNetworks too', (_runtime, stub) => {
  stub()
  const make = (): unknown => webhook({ secret: SECRET, allowPrivateNetworks: true })
  expect(make).toThrowError(/it lacks parts that requests need\. Send webhooks from Node\.$/)
})
