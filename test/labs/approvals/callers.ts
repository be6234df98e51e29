import { type ApprovalClient, createApprovalClient } from '../../../src/client/approvals.ts'
import { createReadClient, type ReadClient } from '../../../src/client/read.ts'

import { type Told, told } from '../../plugins/approvals/races/faults.ts'
import type { Host } from '../chaos/hosts.ts'
import { type LabOrder, ORDER_PATH } from './host-settings.ts'

/** A host and the clients of it, which repeat nothing. */
export interface CalledHost {
  readonly host: Host
  readonly approvals: ApprovalClient
  readonly read: ReadClient
  /** Resolves when the host has followed the order, or was killed by it. */
  order(order: LabOrder): Promise<void>
}

export function calledHost(host: Host, secret: string): CalledHost {
  const baseUrl = `http://127.0.0.1:${host.port}`
  const options = { baseUrl, token: secret, retries: 0, timeoutMs: 60_000 }
  return {
    host,
    approvals: createApprovalClient(options),
    read: createReadClient(options),
    async order(order) {
      await fetch(baseUrl + ORDER_PATH, { method: 'POST', body: JSON.stringify(order) }).catch(() => {})
    },
  }
}

/** What a caller was told; `undefined` if its host was killed before it answered. */
export async function toldBy<Result>(call: Promise<Result>): Promise<Told<Result>> {
  const heard = await told(call)
  return 'refusal' in heard && heard.refusal.code === 'network' ? undefined : heard
}
