/** Checks one file: `check-one.ts NAME FILE`. Its last line is `solved`, or the fault. */
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createParts } from './parts.ts'
import { checkModule } from './task.ts'
import { TASKS } from './tasks.ts'

const [name, file = ''] = process.argv.slice(2)

async function findFault(): Promise<string | undefined> {
  const task = TASKS.find((one) => one.name === name)
  if (!task) return `there is no task ${name}`
  if (!existsSync(file)) return `${basename(file)} is missing`
  try {
    await checkModule(task, await import(pathToFileURL(file).href), createParts())
  } catch (error) {
    return firstLine(error)
  }
  return undefined
}

/** The first line of an error, with the values that an assertion shows below it. */
function firstLine(error: unknown): string {
  const [first = '', ...more] = String(error).split('\n')
  const values = more.map((line) => line.trim()).filter((line) => line !== '')
  return first.endsWith(':') ? `${first} ${values.join(' ')}`.slice(0, 300) : first
}

// The module may keep the process alive, so it is ended here.
process.stdout.write(`\n${(await findFault()) ?? 'solved'}`, () => process.exit())
