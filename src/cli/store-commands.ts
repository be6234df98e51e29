import type { Runs } from '../services/runs.ts'
import type { SqlStore } from '../storage/sql/index.ts'
import type { Command } from './command.ts'
import { type HostSallyport, loadHost } from './host-module.ts'
import { HELP, HOST, HOST_HELP, scopeOf } from './host-options.ts'
import { PLUGIN_COMMANDS } from './plugin-commands.ts'
import { printCounts, printJson } from './table.ts'
import { EXIT, UsageError } from './terminal.ts'

type Migrating = Pick<SqlStore, 'migrate' | 'pendingMigrations'>

function isMigrating(store: object): store is Migrating {
  return 'migrate' in store && 'pendingMigrations' in store
}

export const migrate: Command = {
  usage: '[--dry-run] [--module FILE] [--json]',
  about: 'Create or update the tables of an SQL store.',
  options: { module: 'text', 'dry-run': 'flag', json: 'flag' },
  help: ['--dry-run       print the SQL that would run, and change nothing', HELP.module, HELP.json],
  async run(given, terminal) {
    const { store } = await loadHost(given.text('module'), terminal)
    if (!isMigrating(store)) throw new UsageError('the store needs no migration: it is no sqlStore')
    const pending = await store.pendingMigrations()
    const isDry = given.flag('dry-run')
    if (!isDry) await store.migrate()
    if (given.flag('json')) printJson({ [isDry ? 'pending' : 'migrated']: pending }, terminal)
    else if (isDry) {
      for (const { name, statements } of pending)
        terminal.out(`-- ${name}\n${statements.map((text) => `${text};\n`).join('')}`)
    } else for (const { name } of pending) terminal.out(`${name}\n`)
    if (pending.length === 0) terminal.err('Nothing is pending.\n')
    return EXIT.done
  },
}

type Keeping = Pick<SqlStore, 'storedKinds' | 'removeKind'>

function isKeeping(store: object): store is Keeping {
  return 'storedKinds' in store && 'removeKind' in store
}

const PRUNE_ADDITIONS = PLUGIN_COMMANDS.flatMap((plugin) => plugin.prune ?? [])

export const prune: Command = {
  usage: '(--older-than 90d [--tenant ID] | --kind KIND --yes) [--module FILE] [--json]',
  about: `Remove old ${listed('dispatches', 'ended runs', ...PRUNE_ADDITIONS.map(({ about }) => about))}, or all records of an absent plugin.`,
  options: { ...HOST, 'older-than': 'text', kind: 'text', yes: 'flag' },
  help: [
    '--older-than 90d   age of dispatches by acceptance, of runs by their last change',
    '--kind KIND     all records of this kind, of all tenants: doctor lists those of plugins that the host has not',
    '--yes           required with --kind: it cannot be undone',
    HELP.module,
    '--tenant ID     (default: all tenants)',
    HELP.json,
  ],
  async run(given, terminal) {
    const kind = given.text('kind')
    const olderThan = given.duration('older-than')
    if ((olderThan === undefined) === (kind === undefined)) throw new UsageError('give --older-than or --kind')
    if (olderThan === 0) throw new UsageError('--older-than must be longer than 0: everything would be removed')
    if (kind !== undefined && given.text('tenant') !== undefined) throw new UsageError('--kind takes no --tenant')
    if (kind !== undefined && !given.flag('yes'))
      throw new UsageError('--yes is required with --kind: it cannot be undone')
    const host = await loadHost(given.text('module'), terminal)
    const pruned =
      olderThan === undefined
        ? { [kind ?? '']: await removeAbsent(kind ?? '', host) }
        : await pruneOld({ olderThan, ...scopeOf(given) }, host)
    if (given.flag('json')) printJson({ pruned }, terminal)
    else printCounts('removed', pruned, terminal)
    return EXIT.done
  },
}

function listed(...names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

async function pruneOld(
  old: { readonly olderThan: number; readonly tenant?: string },
  host: HostSallyport,
): Promise<Readonly<Record<string, number>>> {
  const pruned: Record<string, number> = {
    dispatches: (await host.dispatches?.prune(old))?.pruned ?? 0,
    runs: (await host.runs.prune(old)).pruned,
  }
  for (const { counted, remove } of PRUNE_ADDITIONS) pruned[counted] = await remove(host, old)
  return pruned
}

/** @throws {UsageError} The host has the plugin, or there is no such record. */
async function removeAbsent(kind: string, { store, endpoints }: HostSallyport): Promise<number> {
  if (!isKeeping(store)) throw new UsageError('--kind: the store is no sqlStore')
  const found = (await store.storedKinds()).find((one) => one.kind === kind)
  if (!found) throw new UsageError(`--kind: there are no records of the kind ${kind}; doctor lists the kinds`)
  if (endpoints.plugins?.includes(found.plugin))
    throw new UsageError(`--kind: the host has the plugin ${found.plugin}, which needs its records`)
  return store.removeKind(kind)
}

export const erase: Command = {
  usage: '(--recipient ID | --session ID | --user ID) --yes [--module FILE] [--tenant ID] [--json]',
  about: 'Erase the dispatches of a recipient, a session with its runs, or the runs of a user.',
  options: { ...HOST, recipient: 'text', session: 'text', user: 'text', yes: 'flag' },
  help: [
    '--recipient ID  cancels open deliveries and removes addresses, data and content; outcomes stay',
    '--session ID    removes the session with its runs',
    '--user ID       removes the runs and the spend of a user',
    '--yes           required: it cannot be undone',
    ...HOST_HELP,
  ],
  async run(given, terminal) {
    const [recipient, sessionId, userId] = [given.text('recipient'), given.text('session'), given.text('user')]
    const isOne = [recipient, sessionId, userId].filter((each) => each !== undefined).length === 1
    if (!isOne) throw new UsageError('give one of --recipient, --session and --user')
    if (!given.flag('yes')) throw new UsageError('--yes is required: an erasure cannot be undone')
    const { dispatches, runs } = await loadHost(given.text('module'), terminal)
    if (recipient !== undefined && !dispatches)
      throw new UsageError('the module exports a Sallyport that only records runs')
    const scope = scopeOf(given)
    const erased = {
      dispatches: recipient === undefined ? 0 : ((await dispatches?.erase({ recipient, ...scope }))?.dispatches ?? 0),
      runs: await runsErased({ sessionId, userId }, (of) => runs.erase(of, scope)),
    }
    if (given.flag('json')) printJson({ erased }, terminal)
    else printCounts('erased', erased, terminal)
    return EXIT.done
  },
}

async function runsErased(
  { sessionId, userId }: { readonly sessionId: string | undefined; readonly userId: string | undefined },
  eraseRuns: Runs['erase'],
): Promise<number> {
  if (sessionId !== undefined) return (await eraseRuns({ sessionId })).erased
  return userId === undefined ? 0 : (await eraseRuns({ userId })).erased
}
