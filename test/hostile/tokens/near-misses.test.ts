import { describe, expect, it } from 'vitest'
import { composeAppSecret } from '../../../src/auth/app-secret.ts'
import { application, SECRETS, sessionCallers } from './callers.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE64URL = `${BASE62}-_`

/** A text with one character changed, at every place and to every other of an alphabet. */
function* oneChanged(text: string, alphabet: string): Generator<string> {
  for (let at = 0; at < text.length; at++) {
    for (const other of alphabet) if (other !== text[at]) yield text.slice(0, at) + other + text.slice(at + 1)
  }
}

describe('one character off', () => {
  it('is no application secret, whether the checksum fits or not', async () => {
    const { verifier } = application
    const random = SECRETS.good.slice('sp_live_'.length, -6)
    const fitting = [...oneChanged(random, BASE62)].map((other) => composeAppSecret('live', other))
    const others = [...oneChanged(SECRETS.good, `${BASE62}_-`)]
    expect([fitting.length, others.length]).toEqual([30 * 61, 44 * 63])
    for (const token of [...fitting, ...others]) {
      const answer = await verifier.verify(token, 'dispatch')
      if (!('refused' in answer)) expect.unreachable(`${token} was taken`)
    }
  })

  it.each(sessionCallers)('is no $name', async ({ mint, verifier }) => {
    const good = mint()
    for (const token of oneChanged(good, 'Az_')) {
      if (sameSignature(token, good)) continue
      const answer = await verifier.verify(token, 'session_run')
      if (!('refused' in answer)) expect.unreachable(`${token} was taken`)
    }
  })

  // RFC 4648, section 3.5: base64url has several texts for the same bytes. Tokens are told apart by `jti`, never by their text.
  it.each(sessionCallers)(
    'is $name all the same, where the last bits stand for nothing',
    async ({ mint, verifier, signing }) => {
      const good = mint()
      const taken: string[] = []
      for (const last of BASE64URL) {
        const token = good.slice(0, -1) + last
        if (!('refused' in (await verifier.verify(token, 'session_run')))) taken.push(token)
      }
      expect(taken.every((token) => sameSignature(token, good))).toBe(true)
      expect(taken.length).toBe(signing.alg === 'HS256' ? 4 : 16)
    },
  )
})

function sameSignature(one: string, other: string): boolean {
  const [bytes, others] = [one, other].map((token) => Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url'))
  const isOnlyLast = one.slice(0, -1) === other.slice(0, -1)
  return isOnlyLast && bytes !== undefined && others !== undefined && bytes.equals(others)
}
