import { isIP } from 'node:net'
import { expect, test } from 'vitest'
import { webhookChannel } from '../../../src/channels/webhook-channel.ts'
import { isForbiddenLiteral, isPublicAddress, parseWebhookUrl } from '../../../src/channels/webhook-guard.ts'
import { DATA, SECRET } from '../../channels/events.ts'
import { context, message } from '../../channels/messages.ts'
import { fc, runs } from '../../support/properties.ts'
import { outside } from './outside.ts'
import { spelledIpv4, spelledIpv6 } from './random-spelling.ts'
import {
  type Bytes,
  groupsOf,
  isSpecial,
  publicIpv4,
  publicIpv6,
  specialIpv4,
  specialIpv6,
} from './special-addresses.ts'

const RUNS = { numRuns: runs(2_000) }
const HOSTS = runs(20_000)
const REACH = { allowHttp: false, allowPrivateNetworks: false, ports: [] }
const FORBIDDEN = { outcome: 'rejected', code: 'address_forbidden', by: 'channel' }

const spelled = (ip: fc.Arbitrary<Bytes>, spell: (bytes: Bytes) => fc.Arbitrary<string>) =>
  ip.chain((bytes) => fc.tuple(fc.constant(bytes), spell(bytes)))

const plain = (ip: Bytes) =>
  ip.length === 4
    ? ip.join('.')
    : groupsOf(ip)
        .map((group) => group.toString(16))
        .join(':')

test.each([
  ['IPv4', spelled(specialIpv4, spelledIpv4)],
  ['IPv6', spelled(specialIpv6, spelledIpv6)],
])('No special %s address can be sent to, in any spelling', async (_family, hosts) => {
  const { connected } = await outside()
  const resolve = () => Promise.reject(new Error('the resolver was called'))
  const channel = webhookChannel({ secret: SECRET }, { resolve })
  await fc.assert(
    fc.asyncProperty(hosts, async ([ip, host]) => {
      const url = `https://${host}/`
      // The URL is valid: only its address makes it forbidden.
      expect(parseWebhookUrl(url, REACH)).toBeInstanceOf(URL)
      expect(isPublicAddress(plain(ip))).toBe(false)
      expect(await channel.send(message(url, { data: DATA }), context())).toEqual(FORBIDDEN)
    }),
    RUNS,
  )
  expect(connected).toEqual([])
})

test.each([
  ['IPv4', spelled(publicIpv4, spelledIpv4)],
  ['IPv6', spelled(publicIpv6, spelledIpv6)],
])('Every public %s address is allowed, in any spelling', (_family, hosts) => {
  fc.assert(
    fc.property(hosts, ([ip, host]) => {
      const url = parseWebhookUrl(`https://${host}/`, REACH)
      expect(url && isForbiddenLiteral(url, REACH)).toBe(false)
      expect(isPublicAddress(plain(ip))).toBe(true)
    }),
    RUNS,
  )
})

const LETTERS = [...'001277...xXaf:[]%-', '。', '①', '⓪', 'ｘ', '\u00ad']
const ANY_HOST = fc.oneof(
  fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 1, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom(...'0127af:.'), maxLength: 20 }).map((text) => `[${text}]`),
)

test('The guard classifies every host that Node would connect to without a look-up', () => {
  let seen = 0
  fc.assert(
    fc.property(ANY_HOST, (text) => {
      const url = parseWebhookUrl(`https://${text}/`, REACH)
      const host = url?.hostname.replace(/^\[|\]$/g, '') ?? ''
      if (url === undefined || isIP(host) === 0) return
      seen += 1
      expect(isForbiddenLiteral(url, REACH)).toBe(isSpecial(host))
    }),
    { numRuns: HOSTS },
  )
  expect(seen).toBeGreaterThan(HOSTS / 100)
})
