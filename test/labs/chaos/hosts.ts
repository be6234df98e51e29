import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import type { AttemptName, HostCommand, HostMessage, HostSettings, Leased } from './host-settings.ts'

type Settled = Extract<HostMessage, { readonly word: 'settled' }>

/** A host in its own process. */
export interface Host {
  readonly name: string
  readonly port: number
  /** Counts of its logged warnings and errors, by event. */
  readonly logged: ReadonlyMap<string, number>
  readonly leased: readonly Leased[]
  readonly settled: readonly Settled[]
  /** Whether it reported the end of this attempt: settled, refused, lost, or not storable. */
  hasEnded(attempt: AttemptName): boolean
  order(order: HostCommand): void
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** Resolves when the process has exited. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Its last output, if it ended unexpectedly. */
  readonly fall: string | undefined
}

/** Starts hosts from one bundle, so that each is ready within a few hundred milliseconds. */
export interface HostLauncher<Settings extends { readonly name: string } = HostSettings> {
  start(settings: Settings): Promise<Host>
  /** Kills running hosts and removes the bundle. */
  close(): Promise<void>
}

const START_CAP_MS = 60_000
/** `libsql` is native, `pg-native` is not installed, and the others read files of their packages. */
const EXTERNAL = ['libsql', 'pg-native', 'graphile-worker', 'pg-boss']
/** Log events of an attempt that the host will not settle. */
const GIVEN_UP = ['delivery.lease_lost', 'delivery.settle_failed']

/** @param program File of this folder that takes its settings as JSON and reports the port that it listens on. */
export async function hostLauncher<Settings extends { readonly name: string } = HostSettings>(
  program = 'host-process.ts',
): Promise<HostLauncher<Settings>> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-chaos-'))
  await symlink(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  await build({
    entry: { host: fileURLToPath(new URL(program, import.meta.url)) },
    ...{ outDir: folder, config: false, format: 'esm', target: 'node20', silent: true, dts: false, splitting: true },
    outExtension: () => ({ js: '.mjs' }),
    // One bundle loads many times faster.
    ...{ noExternal: [new RegExp(`^(?!(${EXTERNAL.join('|')})$)`)], external: EXTERNAL },
    banner: {
      js: "import { createRequire as requiring } from 'node:module'; const require = requiring(import.meta.url);",
    },
  })
  const children = new Set<ChildProcess>()

  return {
    async start(settings) {
      const child = spawn(process.execPath, [join(folder, 'host.mjs'), JSON.stringify(settings)], {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      })
      children.add(child)
      child.once('exit', () => children.delete(child))
      return hostOf(settings.name, child)
    },
    async close() {
      await Promise.all([...children].map((child) => ended(child, 'SIGKILL')))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function hostOf(name: string, child: ChildProcess): Promise<Host> {
  const logged = new Map<string, number>()
  const leased: Leased[] = []
  const settled: Settled[] = []
  const over = new Set<string>()
  let errors = ''
  let isEnded = false
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = `${errors}${text}`.slice(-2_000)
  })
  const port = await new Promise<number>((resolve, reject) => {
    const cap = setTimeout(() => reject(new Error(`${name} did not start: ${errors}`)), START_CAP_MS)
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${errors}`)))
    child.on('message', (word: HostMessage) => {
      if (word.word === 'logged') logged.set(word.event, (logged.get(word.event) ?? 0) + 1)
      if (word.word === 'leased') leased.push(word)
      if (word.word === 'settled') settled.push(word)
      if (word.word === 'settled' || (word.word === 'logged' && GIVEN_UP.includes(word.event))) {
        over.add(`${word.deliveryId} ${word.attempt}`)
      }
      if (word.word !== 'listening') return
      clearTimeout(cap)
      resolve(word.port)
    })
  })
  return {
    ...{ name, port, logged, leased, settled },
    hasEnded: ({ deliveryId, attempt }) => over.has(`${deliveryId} ${attempt}`),
    order: (order) => void child.send(order),
    signal: (signal) => void child.kill(signal),
    async end(signal) {
      isEnded ||= !isOver(child)
      await ended(child, signal)
    },
    get fall() {
      return isOver(child) && !isEnded ? `${name} ended by itself: ${errors}` : undefined
    },
  }
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function ended(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (isOver(child)) return
  // All its output has been read by then.
  const gone = once(child, 'close')
  child.kill(signal)
  await gone
}
