import assert from 'node:assert/strict'
import { anyOf, appSecrets, sessionTokens } from '../../../src/auth/index.ts'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import { type SqlStore, sqlStore } from '../../../src/storage/sql/index.ts'
import type { TestDatabase } from '../../storage/databases.ts'
import { express5Host } from '../../support/hosts/express.ts'
import { fetchHost } from '../../support/hosts/fetch.ts'
import type { RunningHost } from '../../support/hosts/host.ts'
import { koa3Host } from '../../support/hosts/koa.ts'
import { nodeHost } from '../../support/hosts/node.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { CANARY } from './hostile-texts.ts'
import type { SecondReader } from './read-back.ts'
import { events, SECRET } from './shop.ts'

/** One Sallyport over a database, in a server of every adapter. */
export interface TestApp extends SecondReader {
  readonly name: string
  readonly hosts: readonly (RunningHost & { readonly name: string })[]
  /** Log lines that hold sent values. */
  readonly leaks: readonly string[]
  close(): Promise<void>
}

export async function openTestApp(database: TestDatabase): Promise<TestApp> {
  const { dialect } = database
  const store = sqlStore({ db: database.connect(), dialect, timeoutMs: UNHURRIED_MS })
  await store.migrate()
  const leaks: string[] = []
  const sallyport = sallyportOver(store, leaks)
  const second = sqlStore({ db: database.connect(), dialect, timeoutMs: UNHURRIED_MS })
  const kinds = [express5Host, koa3Host, nodeHost, fetchHost]
  const hosts = await Promise.all(kinds.map(async (kind) => ({ name: kind.name, ...(await kind.start(sallyport)) })))
  return {
    name: dialect,
    hosts,
    leaks,
    store: second,
    sallyport: sallyportOver(second, leaks),
    async close() {
      for (const host of hosts) {
        await host.close()
        assert.deepEqual(host.errors, [], 'an error got as far as the framework')
      }
      await database.close()
      assert.deepEqual(leaks, [])
    },
  }
}

function sallyportOver(store: SqlStore, leaks: string[]): Sallyport {
  const log = (...line: unknown[]): void => {
    const text = JSON.stringify(line)
    if (text.includes(CANARY)) leaks.push(text)
  }
  return createSallyport<unknown>({
    auth: anyOf(
      appSecrets([SECRET]),
      sessionTokens({ keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }], audience: 'api' }),
    ),
    events,
    store,
    channels: { log: recordingChannel(undefined, { address: ({ id }) => id }) },
    recipients: { find: async (id) => (id.startsWith('user_') || id.endsWith(CANARY) ? { id } : undefined) },
    logger: { log },
  }) as Sallyport
}
