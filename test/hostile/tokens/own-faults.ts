import { SallyportError } from '../../../src/errors.ts'
import { GRANT, knowToken, ownToken } from './callers.ts'
import { type Answers, always, BROKEN, type Faults, GRANTED, INVALID, UNAVAILABLE } from './fault.ts'

/** Faults of the host's own verifier: none may count as a principal. */
export const ownFaults: Faults = {
  ...rows(INVALID, {
    'unknown to the host': () => ({ refused: 'invalid_token' }),
    'refused for an unknown reason': () => ({ refused: 'whatever' }),
    'refused, and a principal all the same': () => ({ refused: 'invalid_token', id: 'x', tenant: 'default' }),
  }),
  ...rows(always('403 insufficient_scope'), {
    'known, but not for this': () => ({ refused: 'insufficient_scope' }),
  }),
  ...rows(UNAVAILABLE, {
    'a verifier that throws': () => {
      throw new Error('the directory is down')
    },
    'a verifier that rejects': () => Promise.reject(new Error('the directory is down')),
    'a verifier that throws nothing': () => {
      throw undefined
    },
    'a verifier that throws a text': () => {
      throw 'down'
    },
  }),
  ...rows(BROKEN, {
    'a verifier whose set-up is wrong': () => {
      throw new SallyportError('option_invalid', 'a key cannot be imported')
    },
    'a principal of no tenant': () => ({ id: 'x' }),
    'a principal of an empty tenant': () => ({ id: 'x', tenant: '' }),
    'a principal of a tenant in two words': () => ({ id: 'x', tenant: 'a b' }),
    'a principal of a tenant with a NUL': () => ({ id: 'x', tenant: 'a\0b' }),
    'a principal of a tenant that is too long': () => ({ id: 'x', tenant: 'x'.repeat(201) }),
    'a principal of a tenant in a list': () => ({ id: 'x', tenant: ['default'] }),
    'a principal of an empty session': () => ({ id: 'x', tenant: 'default', sessionId: '' }),
    'a principal of a session that is null': () => ({ id: 'x', tenant: 'default', sessionId: null }),
    'a grant that is a text': () => ({ id: 'x', tenant: 'default', sessionId: 's1', dispatch: '*' }),
    'a grant that is null': () => ({ id: 'x', tenant: 'default', sessionId: 's1', dispatch: null }),
    'a grant and no session': () => ({ id: 'x', tenant: 'default', dispatch: GRANT }),
    'a grant of a text': () => ({
      id: 'x',
      tenant: 'default',
      sessionId: 's1',
      dispatch: { ...GRANT, events: 'order.shipped' },
    }),
  }),
  ...rows(
    BROKEN,
    {
      'a verifier that gives nothing': () => undefined,
      'a verifier that gives null': () => null,
      'a verifier that gives true': () => true,
      'a verifier that gives a number': () => 42,
      'a verifier that gives a text': () => 'user_42',
    },
    UNAVAILABLE,
  ),
  'a token of the greatest length': { token: knowToken('z'.repeat(4_096)), answers: GRANTED },
  'a token one character too long': { token: knowToken('z'.repeat(4_097)), answers: INVALID },
}

function rows(
  answers: Answers,
  verdicts: Readonly<Record<string, () => unknown>>,
  throughAnyOf: Answers = answers,
): Faults {
  return Object.fromEntries(
    Object.entries(verdicts).map(([name, verdict]) => [name, { token: ownToken(verdict), answers, throughAnyOf }]),
  )
}
