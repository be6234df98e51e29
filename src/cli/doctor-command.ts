import type { SqlStore, UnreadableRecord } from '../storage/sql/index.ts'
import type { Command } from './command.ts'
import { loadHost } from './host-module.ts'
import { HELP } from './host-options.ts'
import { printJson, printRows } from './table.ts'
import { EXIT, UsageError } from './terminal.ts'

type Doctored = Pick<SqlStore, 'ready' | 'findUnreadable' | 'repair' | 'storedKinds'>

function isDoctored(store: object): store is Doctored {
  return 'findUnreadable' in store && 'repair' in store
}

export const doctor: Command = {
  usage: '[--texts] [--repair --yes] [--module FILE] [--json]',
  about: 'Find stored records that cannot be read, and repair them; list the kinds of records of absent plugins.',
  options: { module: 'text', texts: 'flag', repair: 'flag', yes: 'flag', json: 'flag' },
  help: [
    '--texts         also print the stored texts, which may contain personal data',
    '--repair        replace or remove what cannot be read; what is lost of a delivery becomes failed, record_unreadable',
    '--yes           required with --repair: the stored text is lost',
    HELP.module,
    HELP.json,
  ],
  async run(given, terminal) {
    const isRepair = given.flag('repair')
    if (isRepair && !given.flag('yes')) throw new UsageError('--yes is required with --repair: the stored text is lost')
    const { store, endpoints } = await loadHost(given.text('module'), terminal)
    if (!isDoctored(store)) throw new UsageError('the store cannot be examined: it is no sqlStore')
    await store.ready()
    const hasTexts = given.flag('texts')
    const found: (Pick<UnreadableRecord, 'table' | 'key' | 'column'> & {
      readonly repair?: string
      readonly text?: string
    })[] = []
    let left = 0
    for await (const record of store.findUnreadable()) {
      const isRepaired = isRepair && (await store.repair(record))
      if (!isRepaired) left += 1
      const { table, column, key, text } = record
      const repair = isRepaired ? 'repaired' : 'not repaired'
      found.push({ table, key, column, ...(isRepair && { repair }), ...(hasTexts && { text }) })
    }
    const columns = ['table', 'key', 'column', ...(isRepair ? ['repair'] : []), ...(hasTexts ? ['text'] : [])]
    const rows = found.map(({ key, ...others }) => ({ ...others, key: Object.values(key).join(' ') }))
    const absent = (await store.storedKinds()).filter(({ plugin }) => !endpoints.plugins?.includes(plugin))
    if (given.flag('json')) printJson({ unreadable: found, absent }, terminal)
    else if (rows.length > 0) printRows(columns, rows, terminal)
    else terminal.err('Every record can be read.\n')
    for (const { kind, plugin } of given.flag('json') ? [] : absent)
      terminal.err(`There are ${kind}, and this host has no ${plugin}. prune --kind ${kind} removes them.\n`)
    return left > 0 ? EXIT.failed : EXIT.done
  },
}
