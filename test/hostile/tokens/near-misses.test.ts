import { describe, expect, it } from 'vitest'
import { composeAppSecret } from '../../../src/auth/app-secret.ts'
import { application, SECRETS, sessionCallers } from './callers.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE64URL = `${BASE62}-_`

/** Gives every text that differs from this one in one character. */
function* oneChanged(text: string, alphabet: string): Generator<string> {
  for (let at = 0; at < text.length; at++) {
    for (const other of alphabet) if (other !== text[at]) yield text.slice(0, at) + other + text.slice(at + 1)
  }
}

describe('one character off', () => {
  it('An application secret with one changed character is refused, with or without a valid checksum', async () => {
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

  it.each(sessionCallers)('A token with one changed character is refused, for $name', async ({ mint, verifier }) => {
    const good = mint()
    for (const token of oneChanged(good, 'Az_')) {
      if (sameSignature(token, good)) continue
      const answer = await verifier.verify(token, 'session_run')
      if (!('refused' in answer)) expect.unreachable(`${token} was taken`)
    }
  })

  // RFC 4648, section 3.5: several base64url texts encode the same bytes. Tokens are identified by `jti`, not by their
  // text.
  it.each(sessionCallers)(
    'A change of unused bits in the last character does not invalidate $name',
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
