import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { until } from '../chaos/until.ts'
import { documented } from './checks/documented.ts'
import { type Command, start } from './program.ts'
import type { Site, Visit } from './runtime.ts'

/** The module on the page of a runtime. */
export async function moduleOnPage(page: string): Promise<string> {
  const text = await readFile(new URL(`../../../docs/runtimes/${page}.md`, import.meta.url), 'utf8')
  const [, code] = /^```js\n(.*?)^```$/ms.exec(text) ?? []
  if (code === undefined) throw new Error(`docs/runtimes/${page}.md has no module`)
  return code
}

/** Runs the module in its runtime, on a free port. The file name is the last argument of the command. */
export async function visitPage(
  page: string,
  name: string,
  command: Command,
  { project, secrets }: Site,
  env: Readonly<Record<string, string>> = {},
): Promise<Visit & { close(): Promise<void> }> {
  const file = `${page}-page.mjs`
  await writeFile(join(project, file), await moduleOnPage(page))
  const port = await freePort()
  const program = start([...command, file], secrets, { cwd: project, env: { ...env, PORT: `${port}` } })
  const origin = `http://127.0.0.1:${port}`
  const answers = () =>
    fetch(origin).then(
      () => true,
      () => false,
    )
  await until(`${name} to listen: ${program.errors()}`, answers, 20_000)
  return {
    target: { name: `${name}, as documented`, origin, secrets, waitsUntil: false },
    groups: [documented],
    close: program.close,
  }
}
