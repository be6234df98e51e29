import type { DispatchStatus, DispatchView } from '../model/dispatch.ts'
import type { RetryResult } from '../model/dispatch-results.ts'
import { UNSENT_REASONS } from '../model/unsent-reason.ts'
import type { Dispatches } from '../services/dispatches.ts'
import type { Given } from './arguments.ts'
import type { Command } from './command.ts'
import { type HostSallyport, loadHost } from './host-module.ts'
import { HOST, HOST_HELP, scopeOf } from './host-options.ts'
import { PLUGIN_COMMANDS } from './plugin-commands.ts'
import { printable, printJson, printRows } from './table.ts'
import { EXIT, type Terminal, UsageError } from './terminal.ts'

const STATUSES = ['queued', 'sent', 'partial', 'failed', 'skipped', 'cancelled'] as const satisfies DispatchStatus[]

/** Largest count that `status` reads, and largest page. A count of everything would read everything. */
const MOST = 500

interface Count {
  readonly status: DispatchStatus
  readonly count: number
  /** There are more. */
  readonly more: boolean
}

async function dispatchesOf(given: Given, terminal: Terminal): Promise<Dispatches> {
  const { dispatches } = await loadHost(given.text('module'), terminal)
  if (!dispatches) throw new UsageError('the module exports a Sallyport that only records runs: it has no dispatches')
  return dispatches
}

const STATUS_ADDITIONS = PLUGIN_COMMANDS.flatMap((plugin) => plugin.status ?? [])

export const status: Command = {
  usage: '[--since 24h] [--module FILE] [--tenant ID] [--json]',
  about: `Show ${['whether the store is ready, dispatches by status', ...STATUS_ADDITIONS.map(({ about }) => about)].join(', and ')}.`,
  options: { ...HOST, since: 'text' },
  help: [`--since 24h     only dispatches since then (default: all). Counts end at ${MOST}.`, ...HOST_HELP],
  async run(given, terminal) {
    const host = await loadHost(given.text('module'), terminal)
    const since = given.instant('since', Date.now())
    await host.ready().catch((error: unknown) => {
      if (given.flag('json')) printJson({ ready: false }, terminal)
      throw error
    })
    const counts = await countsOf(host, { ...scopeOf(given), ...(since !== undefined && { since }) })
    const read = await Promise.all(STATUS_ADDITIONS.map((addition) => addition.read(host, scopeOf(given))))
    const added = read.filter((addition) => addition !== undefined)
    if (given.flag('json'))
      printJson(Object.assign({ ready: true, dispatches: counts }, ...added.map(({ members }) => members)), terminal)
    else printRows(['status', 'count'], [...counts.map(counted), ...added.flatMap(({ rows }) => rows)], terminal)
    return EXIT.done
  },
}

function counted({ status: name, count, more }: Count) {
  return { status: name, count: more ? `${count}+` : count }
}

async function countsOf({ dispatches }: HostSallyport, options: object): Promise<readonly Count[]> {
  const counts: Count[] = []
  for (const name of dispatches ? STATUSES : []) {
    const page = await dispatches?.list({ ...options, status: name, limit: MOST })
    counts.push({ status: name, count: page?.items.length ?? 0, more: page?.nextCursor !== undefined })
  }
  return counts
}

export const list: Command = {
  usage:
    '[--status failed] [--event TYPE] [--recipient ID] [--channel NAME] [--reason WORD] [--session ID] [--since 2h] [--until T] [--limit 50] [--cursor C] [--module FILE] [--tenant ID] [--json]',
  about: 'List dispatches, newest first.',
  options: {
    ...HOST,
    ...{ status: 'text', event: 'text', recipient: 'text', channel: 'text', reason: 'text', session: 'text' },
    ...{ since: 'text', until: 'text', limit: 'text', cursor: 'text' },
  },
  help: [
    `--reason WORD      why a delivery was not sent: ${UNSENT_REASONS.join(', ')}`,
    '--since, --until   RFC 3339, or a duration before now: 30d, 12h, 15m',
    '--limit N          1-500 (default: 50)',
    '--cursor C         the cursor of the page before, printed last',
    ...HOST_HELP,
    'When piped, prints lines of id, status, event, recipient, time and deliveries, separated by tabs:',
    '  npx sallyport list --status failed | cut -f1 | xargs -r npx sallyport retry',
  ],
  async run(given, terminal) {
    const now = Date.now()
    const named = { eventType: 'event', recipient: 'recipient', channel: 'channel', sessionId: 'session' } as const
    const filters = Object.entries(named).flatMap(([option, name]) => [[option, given.text(name)] as const])
    const options = {
      ...Object.fromEntries(filters),
      ...{
        status: given.text('status'),
        reason: given.text('reason'),
        cursor: given.text('cursor'),
        limit: given.whole('limit', 1, MOST),
      },
      ...{ since: given.instant('since', now), until: given.instant('until', now) },
    }
    const present = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
    const dispatches = await dispatchesOf(given, terminal)
    const page = await dispatches.list({ ...present, ...scopeOf(given) })
    if (given.flag('json')) printJson(page, terminal)
    else {
      printRows(['dispatch', 'status', 'event', 'recipient', 'created', 'deliveries'], page.items.map(rowOf), terminal)
      if (page.nextCursor !== undefined) terminal.err(`next page: --cursor '${page.nextCursor}'\n`)
    }
    return EXIT.done
  },
}

function rowOf({ dispatchId, status: of, eventType, recipient, createdAt, deliveries }: DispatchView) {
  const each = deliveries.map(({ channel, status: own, reason, waiting }) => {
    const waits = own === 'queued' && waiting ? `:${waiting.for}` : ''
    return `${channel}:${reason ?? own}${waits}`
  })
  return {
    dispatch: dispatchId,
    status: of,
    event: eventType,
    recipient,
    created: createdAt,
    deliveries: each.join(' '),
  }
}

export const retry: Command = {
  usage: 'DISPATCH_ID [DISPATCH_ID ...] [--channel NAME] [--module FILE] [--tenant ID] [--json]',
  about: 'Retry failed and expired deliveries of dispatches.',
  takesIds: true,
  options: { ...HOST, channel: 'text' },
  help: [
    '--channel NAME  only deliveries of this channel',
    ...HOST_HELP,
    'Exits with 3 if one of the ids is unknown, and with 1 if a delivery cannot be planned again; the others are retried.',
  ],
  async run(given, terminal) {
    if (given.positionals.length === 0) throw new UsageError('give the id of a dispatch')
    const channel = given.text('channel')
    const dispatches = await dispatchesOf(given, terminal)
    const options = { ...scopeOf(given), ...(channel !== undefined && { channel }) }
    const results: Retried[] = []
    try {
      for (const dispatchId of given.positionals)
        results.push({ dispatchId, result: await dispatches.retry(dispatchId, options) })
    } finally {
      // Also after a failure: these are retried.
      printRetries(results, given.flag('json'), terminal)
    }
    if (results.some(({ result }) => !result)) return EXIT.notFound
    return results.some(({ result }) => result && result.unplanned.length > 0) ? EXIT.failed : EXIT.done
  },
}

interface Retried {
  readonly dispatchId: string
  readonly result: RetryResult | undefined
}

function printRetries(results: readonly Retried[], isJson: boolean, terminal: Terminal): void {
  if (isJson) {
    printJson(
      results.map(({ dispatchId, result }) => ({ dispatchId, ...result })),
      terminal,
    )
    return
  }
  const rows = results.map(({ dispatchId, result }) => ({ dispatch: dispatchId, retried: retriedOf(result) }))
  printRows(['dispatch', 'retried'], rows, terminal)
  for (const { dispatchId, result } of results)
    for (const { channel, detail } of result?.unplanned ?? [])
      terminal.err(`${printable(`${dispatchId}: ${channel} cannot be planned again: ${detail}`)}\n`)
}

function retriedOf(result: RetryResult | undefined): string {
  return result ? result.retried.map(({ channel }) => channel).join(' ') || 'nothing' : 'not found'
}
