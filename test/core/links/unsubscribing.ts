import type { OpenAnswer, OpenRequest } from '../../../src/core/endpoints.ts'
import { linkToken } from '../../../src/core/links/link-token.ts'
import { type UnsubscribeDeps, type Unsubscription, unsubscribeEndpoint } from '../../../src/core/links/unsubscribe.ts'
import { type RecordingLogger, recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { keysOf, LINK } from './link-keys.ts'

export interface Endpoint {
  readonly deps: UnsubscribeDeps & { readonly logger: RecordingLogger }
  /** The stored decisions, oldest first. */
  readonly stored: Unsubscription[]
  /** Sends a request to a link, by default to that of {@link LINK}. */
  send(request?: Partial<OpenRequest>, token?: string): Promise<OpenAnswer>
}

export function endpoint(rest: Partial<UnsubscribeDeps> = {}): Endpoint {
  const stored: Unsubscription[] = []
  const deps = {
    keys: keysOf('k1'),
    async unsubscribe(of: Unsubscription) {
      stored.push(of)
    },
    clock: fakeClock(),
    ...rest,
    logger: recordingLogger(),
  }
  return {
    deps,
    stored,
    async send(request = {}, token) {
      const handler = unsubscribeEndpoint(deps)(token ?? (await linkToken(LINK, deps.keys)))
      if (!handler) throw new Error('the token is invalid')
      return handler({ method: 'GET', headers: {}, url: '/u', body: new Uint8Array(), given: [], ...request })
    },
  }
}

/** A form post of this content type. */
export function form(type: string, text: string): Partial<OpenRequest> {
  return { method: 'POST', headers: { 'content-type': type }, body: new TextEncoder().encode(text) }
}

export const URLENCODED = 'application/x-www-form-urlencoded'
