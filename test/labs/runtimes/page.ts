import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { documented } from '../../support/documented.ts'
import { freePort } from '../../support/free-port.ts'
import { until } from '../chaos/until.ts'
import { documentedHost } from './checks/documented.ts'
import { type Command, start } from './program.ts'
import type { Site, Visit } from './runtime.ts'

const PAGE = 'docs/hosts.md'

/** The module in the section of a runtime. */
export function moduleOnPage(runtime: string): string {
  return documented(PAGE, 'toFetch', runtime)
}

/** Runs the module in its runtime, on a free port, with the module that hosts share. The file name is the last argument of the command. */
export async function visitPage(
  runtime: string,
  name: string,
  command: Command,
  { project, secrets }: Site,
  env: Readonly<Record<string, string>> = {},
): Promise<Visit & { close(): Promise<void> }> {
  const file = `${runtime}-page.mjs`
  await writeFile(join(project, file), moduleOnPage(runtime))
  await writeFile(join(project, 'sallyport.ts'), documented(PAGE, '// sallyport.ts\n'))
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
    groups: [documentedHost],
    close: program.close,
  }
}
