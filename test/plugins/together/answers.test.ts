import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { createConsole } from '../../../src/console/index.ts'
import { postmark } from '../../../src/feedback/postmark.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, exampleHost } from '../../openapi/host.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'
import { everyRunPlugin } from '../../support/every-plugin.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { type Known, requestsFrom, type Sent } from './requests.ts'

const REQUESTS = 2_000

const KEYS = [{ kid: 'k1', key: new Uint8Array(32).fill(7) }]

/** The hosts of one recording: all features, none that is optional, runs only, and a console. */
function hosts(): Readonly<
  Record<Sent['host'], { fetch(request: Request): Promise<Response>; run(): Promise<unknown> }>
> {
  const auth = {
    ...testAuth,
    async verify(token: string) {
      const found = await testAuth.verify(token, 'read')
      const isApp = !('refused' in found) && found.sessionId === undefined
      return isApp ? { ...found, operations: ['dispatch', 'session_run', 'read', 'manage'] as const } : found
    },
  }
  const full = exampleHost({
    auth,
    links: { baseUrl: 'https://shop.test', keys: KEYS },
    pluginOptions: {
      alerts: { budgets: [{ name: 'small', per: 'session', hard: { tokens: 10 } }] },
      consent: { keys: KEYS, feedback: { postmark: postmark({ channel: 'email', username: 'u', password: 'p' }) } },
    },
  })
  const bare = exampleHost()
  const clock = fakeClock()
  const runs = createSallyport({
    auth,
    store: memoryStore({ clock }),
    clock,
    ids: countingIds(),
    logger: recordingLogger(),
    plugins: everyRunPlugin(),
  })
  const shown = toFetch(createConsole(full.sallyport, { access: () => ({ access: 'operate', user: 'ada' }) }))
  return {
    full: { fetch: full.fetch, run: () => advance(full.clock).then(() => full.sallyport.worker.runDue()) },
    bare: { fetch: bare.fetch, run: () => advance(bare.clock) },
    runs: { fetch: toFetch(runs), run: () => advance(clock) },
    console: { fetch: shown, run: () => advance(full.clock) },
  }
}

async function advance(clock: { advance(ms: number): void }): Promise<void> {
  clock.advance(777)
}

function requestOf({ host, method, url, token, headers, body }: Sent): Request {
  const isBodiless = method === 'GET' || method === 'HEAD'
  const own = host === 'console' ? { 'sec-fetch-site': 'same-origin', 'x-sallyport-console': '1' } : {}
  return new Request(`https://shop.test${url}`, {
    method,
    headers: { ...headers, ...own, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(!isBodiless && body !== undefined && { body }),
  })
}

/** Sends the requests of a seed, and describes each with its answer in one line. */
async function recorded(seed: number, each?: (sent: Sent, answer: string) => void): Promise<string> {
  const all = hosts()
  const known: Known = { dispatches: [], cursors: [], tags: [] }
  const next = requestsFrom(seed)
  const lines: string[] = []
  for (let at = 0; at < REQUESTS; at++) {
    const sent = next(known)
    const host = all[sent.host]
    await host.run()
    const answer = await host.fetch(requestOf(sent))
    const text = await answer.text()
    note(sent, text, answer.headers.get('etag'), known)
    const whole = named(JSON.stringify([answer.status, headersOf(answer), text]), known)
    each?.(sent, whole)
    const asked = [
      sent.host,
      sent.token ?? '-',
      sent.method,
      shown(named(sent.url, known)),
      shown(named(JSON.stringify(sent.headers), known)),
    ]
    const hash = createHash('sha256').update(whole).digest('hex').slice(0, 8)
    lines.push([...asked, shown(sent.body ?? '-'), '->', answer.status, hash].join(' '))
  }
  return `${lines.join('\n')}\n`
}

/** Names of the console's files hold a hash of their content. */
const ASSET = /\b(main)-[A-Z0-9]{8}\.(js|css)\b/g

/** Replaces cursors and entity tags, which hold a number that each process draws, and hashes of files. */
function named(text: string, { cursors, tags }: Known): string {
  const drawn = [
    ...cursors.flatMap((cursor) => [encodeURIComponent(cursor), cursor]),
    ...tags.map((tag) => tag.slice(1, -1)),
  ]
  const undrawn = drawn.reduce((shorter, each, at) => shorter.replaceAll(each, `<${at}>`), text)
  return undrawn.replace(ASSET, '$1-<hash>.$2')
}

function shown(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}..${text.length}` : text
}

/** Without the length, which changes with those numbers. */
function headersOf(answer: Response): readonly [string, string][] {
  return [...answer.headers].filter(([name]) => name !== 'content-length').sort()
}

function note(sent: Sent, text: string, tag: string | null, known: Known): void {
  const { dispatches, cursors, tags } = known
  if (tag !== null) known.again = { ...sent, headers: { 'if-none-match': tag } }
  if (tag !== null && !tags.includes(tag)) tags.push(tag)
  if (!text.startsWith('{')) return
  const { dispatchId, next } = JSON.parse(text)
  if (typeof dispatchId === 'string') dispatches.push(dispatchId)
  if (typeof next === 'string' && !cursors.includes(next)) cursors.push(next)
}

describe('recorded requests', () => {
  it('Hosts answer recorded requests as before', async () => {
    const answers: Record<number, number> = {}
    const text = await recorded(1, (_, answer) => {
      const status = JSON.parse(answer)[0]
      answers[status] = (answers[status] ?? 0) + 1
    })
    await expect(text).toMatchFileSnapshot('answers.txt')
    // The recording reaches each kind of answer.
    expect(Object.keys(answers)).toEqual(
      expect.arrayContaining(['200', '201', '202', '304', '400', '401', '403', '404']),
    )
    expect(Object.keys(answers)).toEqual(expect.arrayContaining(['405', '409', '415', '422', '503']))
  })
})
