import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execute } from '../../package/tarball.ts'
import type { Environment, Manager } from './managers.ts'
import type { Commands, QuickStart } from './readme.ts'

/** A new project for pasted commands. */
export interface PasteProject {
  readonly project: string
  readonly env: Environment
  readonly manager: Manager
  readonly quickStart: QuickStart
}

/** Kinds of projects, with their setup. */
export const PROJECTS: Readonly<Record<string, (place: PasteProject) => Promise<void>>> = {
  'npm init -y': async (place) => {
    await execute(hosted(place), 'npm', 'init', '-y')
    await markRoot(place)
  },
  'ES modules': async (place) => {
    await writeFile(join(place.project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    await markRoot(place)
  },
}

/** Yarn treats a folder inside another project as part of it, unless it has a lock file. */
async function markRoot({ project, manager }: PasteProject): Promise<void> {
  if (manager.row === 'Yarn') await writeFile(join(project, 'yarn.lock'), '')
  // Makes curl print the status, without a change to the pasted text.
  await writeFile(join(project, '.curlrc'), String.raw`write-out = "\nstatus %{http_code}\n"`)
}

/** Runs the install command of the README. */
export async function pasteInstall(place: PasteProject): Promise<void> {
  const { quickStart } = place
  await execute(hosted(place), 'bash', '-ec', `${commandsOf(place).install} ${quickStart.packages}`)
}

const TIMEOUT_MS = 120_000

/** Saves the code, pastes the commands, and returns the faults. */
export async function pasteStart(place: PasteProject, language: 'JavaScript' | 'TypeScript'): Promise<string[]> {
  const { project, env, quickStart, manager } = place
  const commands = commandsOf(place)
  const isTyped = language === 'TypeScript'
  await writeFile(join(project, isTyped ? quickStart.typescriptFile : quickStart.file), quickStart.code)
  if (isTyped) await execute(hosted(place), 'bash', '-ec', commands.addTypeScript)
  const { shell } = quickStart
  if (!shell.includes('node server.mjs &')) return ['the README does not start the server as its table says']
  const started = shell.replace('node server.mjs', isTyped ? commands.startTypeScript : commands.start)
  const pasted = manager.hasNoPrograms ? started.replace('$(npx ', '$(yarn ') : started
  return outcomeOf(pasted, hosted({ ...place, env: { ...env, CURL_HOME: project } }))
}

/** Pastes into a shell until all expected output appears, then ends it with all its processes. */
async function outcomeOf(pasted: string, at: ReturnType<typeof hosted>): Promise<string[]> {
  const shell = spawn('bash', ['-e'], { ...at, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  const exit = once(shell, 'exit')
  let output = ''
  const shown = (): string => output.slice(-2_000)
  const missing = (): string[] =>
    ['status 202', 'Order A-1 shipped', 'status 201'].filter((one) => !output.includes(one))
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`not within ${TIMEOUT_MS} ms: ${missing()}\n${shown()}`)),
        TIMEOUT_MS,
      )
      const read = (text: string): void => {
        output += text
        if (missing().length > 0) return
        clearTimeout(timer)
        resolve()
      }
      for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding('utf8').on('data', read)
      // The shell waits, so that the server in the background keeps running.
      shell.stdin.end(`${pasted}\nwait\n`)
      exit.then(() => reject(new Error(`the shell ended without ${missing()}\n${shown()}`)), reject)
    })
    return []
  } catch (error) {
    return [String(error)]
  } finally {
    if (shell.pid !== undefined) endGroup(shell.pid)
    await exit
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All processes have ended already.
  }
}

function hosted({ project, env }: PasteProject): { cwd: string; env: NodeJS.ProcessEnv } {
  return { cwd: project, env: { ...env } as NodeJS.ProcessEnv }
}

function commandsOf({ quickStart, manager }: PasteProject): Commands {
  const commands = quickStart.commands.get(manager.row)
  if (!commands) throw new Error(`the README's table has no row for ${manager.row}`)
  return commands
}
