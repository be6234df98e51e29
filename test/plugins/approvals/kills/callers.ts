import { type ApprovalClient, createApprovalClient } from '../../../../src/client/approvals.ts'
import { createReadClient, type ReadClient } from '../../../../src/client/read.ts'
import type { Host } from '../../../labs/chaos/hosts.ts'
import { type Told, told } from '../races/faults.ts'
import { type LabOrder, ORDER_PATH } from './host-settings.ts'

/** A host and the clients of it. */
export interface CalledHost {
  readonly host: Host
  /** Repeats nothing. */
  readonly approvals: ApprovalClient
  readonly read: ReadClient
  /** Resolves when the host has followed the order, or was killed by it. */
  order(order: LabOrder): Promise<void>
}

export function calledHost(host: Host, secret: string): CalledHost {
  const baseUrl = `http://127.0.0.1:${host.port}`
  const options = { baseUrl, token: secret, timeoutMs: 60_000 }
  return {
    host,
    approvals: createApprovalClient({ ...options, retries: 0 }),
    read: createReadClient({ ...options, retries: 10 }),
    async order(order) {
      await fetch(baseUrl + ORDER_PATH, { method: 'POST', body: JSON.stringify(order) }).catch(() => {})
    },
  }
}

/** Codes of calls that may have taken effect or not. A busy machine may be late, too. */
const UNANSWERED = ['network', 'timeout', 'store_unavailable']

/** What a caller was told; `undefined` if its call was not answered. */
export async function toldBy<Result>(call: Promise<Result>): Promise<Told<Result>> {
  const heard = await told(call)
  return 'refusal' in heard && UNANSWERED.includes(heard.refusal.code) ? undefined : heard
}
