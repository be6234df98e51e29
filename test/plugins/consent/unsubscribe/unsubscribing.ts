import type { ErrorHooks } from '../../../../src/core/answers/report-fault.ts'
import { reportFault } from '../../../../src/core/answers/report-fault.ts'
import type { OpenAnswer, OpenRequest } from '../../../../src/core/endpoints.ts'
import { signedLinks } from '../../../../src/core/links/signed-links.ts'
import type { ReadyHashKeys } from '../../../../src/options/hash-keys.ts'
import {
  type UnsubscribeDeps,
  type Unsubscription,
  unsubscribeEndpoint,
} from '../../../../src/plugins/consent/unsubscribe/unsubscribe.ts'
import { keysOf, LINK, unsubscribeToken } from '../../../core/links/link-keys.ts'
import { type RecordingLogger, recordingLogger } from '../../../support/deps.ts'
import { fakeClock } from '../../../support/fake-clock.ts'

export interface Endpoint {
  readonly deps: UnsubscribeDeps & { readonly keys: ReadyHashKeys; readonly logger: RecordingLogger }
  /** The stored decisions, oldest first. */
  readonly stored: Unsubscription[]
  /** Sends a request to a link, by default to that of {@link LINK}. */
  send(request?: Partial<OpenRequest>, token?: string): Promise<OpenAnswer>
}

interface Parts extends Partial<UnsubscribeDeps> {
  readonly keys?: ReadyHashKeys
  readonly hooks?: ErrorHooks
}

export function endpoint({ keys = keysOf('k1'), hooks, ...rest }: Parts = {}): Endpoint {
  const stored: Unsubscription[] = []
  const logger = recordingLogger()
  const clock = fakeClock()
  const deps: Endpoint['deps'] = {
    links: signedLinks({ baseUrl: 'https://app.example', keys }),
    async unsubscribe(of: Unsubscription) {
      stored.push(of)
    },
    report: (cause, context, line) => reportFault(cause, context, line, { logger, clock, hooks }),
    ...rest,
    keys,
    logger,
  }
  return {
    deps,
    stored,
    async send(request = {}, token) {
      const handler = unsubscribeEndpoint(deps)(token ?? (await unsubscribeToken(LINK, deps.keys)))
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
