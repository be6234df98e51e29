import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'

/**
 * Ten consoles: each asks in every pause for what its screen shows, with the tag of the last answer, from the message
 * `open` to `close`; they start open.
 */
const [url = '', dispatchId = '', pause = ''] = process.argv.slice(2)

const PAUSE_MS = Number(pause)

const OVERVIEW = ['outbound/stats?window=1h&step=1m']

/** What each console shows. */
const SCREENS: readonly (readonly string[])[] = [
  ...[OVERVIEW, OVERVIEW, OVERVIEW, OVERVIEW],
  ['outbound/dispatches'],
  ['outbound/dispatches?status=failed'],
  [`outbound/dispatches/${dispatchId}`],
  ['agents/sessions/s1', 'agents/budgets?sessionId=s1'],
  ['agents/sessions'],
  ['agents/runs'],
]

/** Answers by path and by status. A busy database may time out: 503. They are sent at the end: messages meanwhile would cost the measured process time. */
const answers = { opened: new Set<string>(), byStatus: new Map<number, number>() }
const paths = new Set(SCREENS.flat())

/** A console keeps its connections, and the tag of the last answer for each path. It runs elsewhere, so here it must cost little: no `fetch`. */
const consoles = SCREENS.map(() => ({ agent: new Agent({ keepAlive: true }), tags: new Map<string, string>() }))
type Console = (typeof consoles)[number]

let timers: NodeJS.Timeout[] = []

function open(): void {
  timers = consoles.map((own, at) => {
    const ask = (): void => {
      for (const path of SCREENS[at] ?? []) void read(path, own)
    }
    // Consoles are not opened at the same moment.
    return setTimeout(
      () => {
        ask()
        timers.push(setInterval(ask, PAUSE_MS))
      },
      (at * PAUSE_MS) / SCREENS.length,
    )
  })
}

function close(): void {
  for (const timer of timers) clearTimeout(timer)
  timers = []
}

async function read(path: string, { agent, tags }: Console): Promise<void> {
  const tag = tags.get(path)
  const request = get(`${url}api/${path}`, { agent, headers: tag === undefined ? {} : { 'if-none-match': tag } })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  const { statusCode = 0, headers } = answer
  if (headers.etag !== undefined) tags.set(path, headers.etag)
  answers.byStatus.set(statusCode, (answers.byStatus.get(statusCode) ?? 0) + 1)
  if (answers.opened.size === paths.size) return
  answers.opened.add(path)
  if (answers.opened.size === paths.size) process.send?.('opened')
}

process.on('message', (message) => {
  close()
  if (message === 'open') open()
  if (message === 'end') process.send?.([...answers.byStatus])
})
process.on('disconnect', () => process.exit())
open()
