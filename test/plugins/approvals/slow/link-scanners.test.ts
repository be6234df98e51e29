import { Agent, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { toNode } from '../../../../src/adapters/node.ts'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { fakeClock } from '../../../support/fake-clock.ts'
import { closedAfterEach } from '../../../support/hosts/closed-after-each.ts'
import { listen } from '../../../support/hosts/host.ts'
import { approving, NAME } from '../approving.ts'

const MAILS = 1_000
const APPROVERS = Array.from({ length: 50 }, (_, at) => `approver${at}@example.com`)
const AT_ONCE = 50

const text = ({ links }: { readonly links?: Readonly<Record<string, string>> | undefined }): string =>
  `See ${links?.answer} or accept: ${links?.accept} or decline: ${links?.decline}`
const channels = { a: { text } }

describe('scanners of mail', () => {
  const toClose = closedAfterEach()

  it(`A scanner that opens every link of ${MAILS.toLocaleString('en')} mails decides nothing, and stores nothing`, async () => {
    const clock = fakeClock()
    const memory = memoryStore({ clock })
    let commits = 0
    const store = {
      ...memory,
      commitUnit(...given: Parameters<typeof memory.commitUnit>) {
        commits += 1
        return memory.commitUnit(...given)
      },
    }
    const server = toClose(await listen((req, res) => void handle(req, res)))
    const {
      sallyport,
      a,
      request: ask,
    } = approving({
      ...{ clock, store, event: { approvers: () => APPROVERS } },
      events: defineEvents({
        'refund.approval': { critical: true, channels },
        'plain.approval': { critical: true, channels },
      }),
      links: { baseUrl: server.url, keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }] },
    })
    const handle = toNode(sallyport)
    const ids = Array.from({ length: MAILS / APPROVERS.length }, (_, at) => `refund-${at}`)
    for (const approvalId of ids) await ask({ approvalId })
    while (a.sent.length < MAILS) await sallyport.worker.runDue()
    commits = 0

    const links = a.sent.flatMap(({ content }) => String(content.text).match(/http:\S+/g) ?? [])
    expect(links.length).toBe(3 * MAILS)
    const visits = links.flatMap((link) => ['GET', 'HEAD'].map((method) => ({ link, method })))
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
    const statuses = await Promise.all(visits.map(({ link, method }) => visit(link, method, agent)))
    agent.destroy()
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(commits).toBe(0)
    for (const approvalId of ids)
      expect(await sallyport.approvals.get({ ...NAME, approvalId })).toMatchObject({ status: 'open', answers: [] })
  })
})

/** Opens a link, and reads the whole answer. */
function visit(link: string, method: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(link, { method, agent }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode))
    })
    asked.once('error', reject).end()
  })
}
