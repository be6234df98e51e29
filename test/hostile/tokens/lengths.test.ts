import { expect, it } from 'vitest'
import { type AuthVerifier, anyOf } from '../../../src/auth/index.ts'
import { authenticate } from '../../../src/core/authenticate.ts'
import { systemClock } from '../../../src/runtime/system-clock.ts'
import { application, own, SECRETS, sessionCallers } from './callers.ts'

const LONGEST = 4_096
const FAR = [4_098, 5_000, 8_191, 8_192, 65_536, 1_000_000]

const hs256 = sessionCallers[0]?.mint() ?? ''
const everybody = anyOf(application.verifier, ...sessionCallers.map(({ verifier }) => verifier), own.verifier)

const grown: Readonly<Record<string, (length: number) => string>> = {
  'a repeated letter': (length) => 'a'.repeat(length),
  'a secret, cut short or grown': (length) => SECRETS.good.slice(0, length).padEnd(length, '0'),
  'a session token, cut short or grown': (length) => hs256.slice(0, length).padEnd(length, 'A'),
  'a secret behind others': (length) => SECRETS.good.padStart(length, 'a').slice(0, length),
  'dots alone': (length) => '.'.repeat(length),
}

it.each(Object.entries(grown))(
  'Every length of %s gets the same answer, and no verifier sees a token that is too long',
  async (_, make) => {
    const asked: number[] = []
    const auth: AuthVerifier = {
      verify(token, operation) {
        asked.push(token.length)
        return everybody.verify(token, operation)
      },
    }
    const lengths = [...Array.from({ length: LONGEST + 2 }, (_, length) => length), ...FAR]
    const codes = new Map<number, string>()
    for (const length of lengths) {
      const token = make(length)
      if (token === SECRETS.good || token === hs256) continue
      const answer = await authenticate({ authorization: `Bearer ${token}` }, 'session_run', auth, systemClock)
      codes.set(length, 'refused' in answer ? answer.refused : 'accepted')
    }
    expect([...new Set(codes.values())]).toEqual(['invalid_token'])
    expect(codes.size).toBeGreaterThanOrEqual(lengths.length - 1)
    expect(asked).toEqual([...codes.keys()].filter((length) => length > 0 && length <= LONGEST))
  },
)
