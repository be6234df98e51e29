import type { Runs } from '../services/runs.ts'
import type { SqlStore } from '../storage/sql/index.ts'
import type { Command } from './command.ts'
import { loadHost } from './host-module.ts'
import { HELP, HOST, HOST_HELP, scopeOf } from './host-options.ts'
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

export const prune: Command = {
  usage: '--older-than 90d [--module FILE] [--tenant ID] [--json]',
  about: 'Remove old dispatches, ended runs and uses of tokens.',
  options: { ...HOST, 'older-than': 'text' },
  help: [
    '--older-than 90d   age of dispatches by acceptance, of runs by their last change',
    HELP.module,
    '--tenant ID     (default: all tenants)',
    HELP.json,
  ],
  async run(given, terminal) {
    const olderThan = given.duration('older-than')
    if (olderThan === undefined) throw new UsageError('--older-than is required')
    if (olderThan === 0) throw new UsageError('--older-than must be longer than 0: everything would be removed')
    const options = { olderThan, ...scopeOf(given) }
    const { dispatches, runs, tokens } = await loadHost(given.text('module'), terminal)
    const pruned = {
      dispatches: (await dispatches?.prune(options))?.pruned ?? 0,
      runs: (await runs.prune(options)).pruned,
      tokenUses: (await tokens.prune?.(options))?.pruned ?? 0,
    }
    if (given.flag('json')) printJson({ pruned }, terminal)
    else printCounts('removed', pruned, terminal)
    return EXIT.done
  },
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
