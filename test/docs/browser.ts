import { spawn, spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { HANG_MS } from '../support/unhurried.ts'

/** Names under which Chromium may be on the path. The headless shell is first: it has no windows, which take time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** The command of an installed Chromium; `undefined` if there is none. */
export function chromium(): string | undefined {
  return NAMES.find((name) => spawnSync(name, ['--version']).status === 0)
}

/** Opens a page beside the site, which is served at `/site/`, and gives what its script passes to `report(…)`. */
export async function inBrowser(site: string, script: string): Promise<unknown> {
  const program = chromium()
  if (program === undefined) throw new Error(`none of ${NAMES.join(', ')} is on the path`)
  const bus = new EventEmitter()
  const reported = once(bus, 'report').then(([value]: unknown[]) => value)
  const server = createServer((request, response) => {
    answer({ site, script, bus }, request, response).catch((error: unknown) => bus.emit('error', error))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const profile = await mkdtemp(join(tmpdir(), 'sallyport-browser-'))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const browser = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, address], { stdio: 'ignore' })
  const ended = once(browser, 'exit')
  ended.then(() => bus.emit('error', new Error('the browser ended without a report')))
  const timer = setTimeout(() => bus.emit('error', new Error(`no report within ${HANG_MS} ms`)), HANG_MS)
  try {
    return await reported
  } finally {
    clearTimeout(timer)
    bus.on('error', () => {})
    browser.kill()
    await ended
    server.closeAllConnections()
    server.close()
    // Child processes of the browser may write for a moment longer.
    await rm(profile, { recursive: true, force: true, maxRetries: 10 })
  }
}

interface Opened {
  readonly site: string
  readonly script: string
  readonly bus: EventEmitter
}

async function answer(
  { site, script, bus }: Opened,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname)
  response.setHeader('content-type', TYPES[extname(path)] ?? 'text/html; charset=utf-8')
  if (path === '/report') {
    bus.emit('report', await json(request))
    response.end()
  } else if (path === '/') {
    response.end(`<!doctype html><body><script type="module">${HARNESS}${script}</script></body>`)
  } else {
    const body = await readFile(join(site, path.replace('/site/', ''))).catch(() => undefined)
    response.writeHead(body === undefined ? 404 : 200).end(body)
  }
}

/** `show(path)` gives the window of a drawn page, 360 px wide; `until(get)` the first truthy result. */
const HARNESS = `
const report = (value) => fetch('/report', { method: 'POST', body: JSON.stringify(value) })
addEventListener('unhandledrejection', ({ reason }) => report({ error: String(reason?.stack ?? reason) }))
const until = (get) => new Promise((resolve, reject) => {
  const look = () => {
    try {
      const value = get()
      value ? resolve(value) : setTimeout(look, 20)
    } catch (error) {
      reject(error)
    }
  }
  look()
})
const frame = document.createElement('iframe')
frame.style = 'width: 360px; height: 800px; border: 0'
document.body.append(frame)
async function show(path) {
  await new Promise((resolve) => {
    frame.onload = resolve
    frame.src = '/site/' + path
  })
  const view = frame.contentWindow
  await until(() => view.getComputedStyle(view.document.body).display !== 'none' && view.app)
  await until(() => view.document.querySelectorAll('code.mermaid').length === 0)
  return view
}
`
