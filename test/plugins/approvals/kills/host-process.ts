/**
 * A host with approvals in its own process, to be killed: `host-process.ts <settings as JSON>` serves and delivers until it is killed, also by
 * itself in the midst of a call of its store, and ends with its parent process.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { toNode } from '../../../../src/adapters/node.ts'
import { appSecrets } from '../../../../src/auth/index.ts'
import { createSallyport } from '../../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { APPROVALS_KIND } from '../../../../src/plugins/approvals/approval-records.ts'
import { approvals } from '../../../../src/plugins/approvals/approvals.ts'
import type { Clock } from '../../../../src/ports/clock.ts'
import type { DeliveryQueue } from '../../../../src/ports/delivery-queue.ts'
import type { SallyportStore } from '../../../../src/ports/sallyport-store.ts'
import { systemClock } from '../../../../src/runtime/system-clock.ts'
import type { Place } from '../../../labs/chaos/place.ts'
import { openStore } from '../../../labs/chaos/place-store.ts'
import {
  ADA,
  AGENT,
  type Aim,
  ASKS,
  BOB,
  type KilledHostSettings,
  type LabOrder,
  ORDER_PATH,
  REMINDED_AFTER_MS,
  TELLS,
} from './host-settings.ts'

const { place, sha256 }: KilledHostSettings = JSON.parse(process.argv[2] ?? '{}')
let clockOffMs = 0
let aim: Aim | undefined

const clock: Clock = { ...systemClock, now: () => Date.now() + clockOffMs }

/** Makes a call of the store, and kills this process at the moment of the aim. */
async function aimedAt<Result>(call: Aim['call'], run: () => Promise<Result>): Promise<Result> {
  if (aim?.call !== call) return run()
  const { moment, turns } = aim
  aim = undefined
  const made = moment === 'before' ? undefined : run()
  if (moment === 'after') await made
  for (let turn = 0; turn < turns; turn++) await setImmediate()
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

function killable(store: SallyportStore): SallyportStore {
  return {
    ...store,
    findRecords: (search) =>
      search.kind === APPROVALS_KIND ? aimedAt('read', () => store.findRecords(search)) : store.findRecords(search),
    commitUnit: (unit) => aimedAt('change', () => store.commitUnit(unit)),
    accept: (acceptance) => aimedAt('report', () => store.accept(acceptance)),
  }
}

async function queueAt(at: Place): Promise<DeliveryQueue | undefined> {
  if (at.dialect !== 'postgresql') return undefined
  const { default: pg } = await import('pg')
  const { postgresQueue } = await import('../../../../src/queues/postgres.ts')
  const address = { host: '127.0.0.1', port: at.port, database: at.database, user: 'postgres', password: 'postgres' }
  return postgresQueue({ client: () => new pg.Client(address) })
}

const text = ({ data }: { readonly data: unknown }, link: string | undefined): string =>
  `${Object(data).approval.message} ${link}`
const { store } = await openStore(place)
const queue = await queueAt(place)
const sallyport = createSallyport({
  clock,
  auth: appSecrets([{ sha256, allow: ['approval', 'manage', 'read'] }]),
  events: defineEvents({
    [ASKS]: { critical: true, channels: { none: { text: (facts) => text(facts, facts.links?.answer) } } },
    [TELLS]: { channels: { none: { text: ({ data }) => String(Object(data).status) } } },
  }),
  store: killable(store),
  channels: { none: { address: ({ email }) => email, send: async () => ({ outcome: 'sent' }) } },
  links: { baseUrl: 'https://shop.test', keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }] },
  worker: { leaseMs: 2_000, pollMs: 1_000 },
  ...(queue && { queue }),
  plugins: [
    approvals({
      events: { [ASKS]: { approvers: () => [ADA, BOB], reminders: [{ afterMs: REMINDED_AFTER_MS }] } },
      answered: ({ status }) => ({ eventType: TELLS, recipient: AGENT, eventData: { status } }),
    }),
  ],
  logger: { log() {} },
})

const handle = toNode(sallyport)
const server = createServer(async (request, response) => {
  if (request.url !== ORDER_PATH) return handle(request, response)
  const order = (await json(request)) as LabOrder
  if (order.aim) aim = order.aim
  if (order.clockOffMs !== undefined) clockOffMs = order.clockOffMs
  if (order.runDue) await sallyport.worker.runDue()
  response.writeHead(204).end()
}).listen(0, '127.0.0.1', () => {
  sallyport.worker.start()
  process.send?.({ word: 'listening', port: (server.address() as AddressInfo).port })
})
process.on('disconnect', () => process.exit())
