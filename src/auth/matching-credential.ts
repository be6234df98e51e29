import type { Credential } from './app-secret-credentials.ts'

const HEX_DIGITS = 64

/** The credential with that digest. Visits every digit of every digest, whichever matches, so that time tells nothing. */
export function matchingCredential(credentials: readonly Credential[], digest: string): Credential | undefined {
  let match: Credential | undefined
  for (const credential of credentials) {
    const known = credential.digest
    let difference = 0
    for (let index = 0; index < HEX_DIGITS; index++) difference |= digest.charCodeAt(index) ^ known.charCodeAt(index)
    if (difference === 0) match = credential
  }
  return match
}
