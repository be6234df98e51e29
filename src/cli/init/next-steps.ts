import { EXAMPLE } from './instance-files.ts'
import { startLines } from './next-files.ts'
import type { Project } from './project.ts'
import type { ServerFramework } from './server-files.ts'
import type { StoreName } from './storage-file.ts'

/** A line that a project may add to its `AGENTS.md`. */
const AGENTS = 'Docs of sallyport for agents: node_modules/sallyport/dist/docs/skill.md'

interface Facts {
  readonly project: Project
  readonly store: StoreName
  readonly installs: readonly string[]
  /** Path of the mount file from the folder of the code, without extension: `./outbound`. */
  readonly mount: string
  /** An `instrumentation` of the project stays as it is. */
  readonly hasInstrumentation: boolean
}

/** Text of what is left to do by hand. */
export function nextSteps({ project, store, installs, mount, hasInstrumentation }: Facts): string {
  const { framework, folder, imported } = project
  const start = `${store === 'memory' ? '' : 'void '}startOutbound(server)`
  const steps = [
    ...(installs.length > 0 ? [step('Install the missing packages:', installs)] : []),
    ...(framework === 'next'
      ? hasInstrumentation
        ? [step('Add to register() in your instrumentation file:', registered(project, store))]
        : []
      : [
          step(
            `Add to the file of your server${folder === '' ? '' : ` in ${folder}/`}:`,
            serverLines(framework, `${mount}${imported}`, start),
          ),
        ]),
    ...(store === 'memory' ? [] : [step('Name the database:', [DATABASES[store]])]),
    step('Make a secret, and start the server with it:', ['export APP_SECRET=$(npx sallyport secret --env dev)']),
    step('Send the example event. The answer is 202, and the server prints the message:', [
      'curl localhost:3000/api/outbound/dispatch \\',
      `  -H "authorization: Bearer $APP_SECRET" -H 'content-type: application/json' \\`,
      `  -d '${EXAMPLE}'`,
    ]),
  ]
  const numbered = steps.map((text, at) => `${at + 1}. ${text}`)
  return `${numbered.join('\n\n')}\n\nFor coding agents, a line for AGENTS.md:\n\n     ${AGENTS}\n`
}

const DATABASES: Readonly<Record<Exclude<StoreName, 'memory'>, string>> = {
  sqlite: 'export OUTBOUND_FILE=outbound.db',
  postgresql: 'export DATABASE_URL=postgres://localhost:5432/postgres',
}

function step(title: string, lines: readonly string[]): string {
  return `${title}\n\n${lines.map((line) => (line === '' ? '' : `     ${line}`)).join('\n')}`
}

function registered(project: Project, store: StoreName): readonly string[] {
  return ["if (process.env.NEXT_RUNTIME === 'nodejs') {", ...startLines(project, store), '}']
}

/** Lines of code for the file that listens. */
function serverLines(framework: ServerFramework, from: string, start: string): readonly string[] {
  const { names, mount, where, listening } = LINES[framework]
  const imported = `import { ${names} } from '${from}'`
  if (listening === undefined) return [imported, '', `${mount} // ${where}`]
  const width = Math.max(mount.length, start.length)
  return [
    imported,
    '',
    `${mount.padEnd(width)} // ${where}`,
    `${start.padEnd(width)} // after: const server = ${listening}`,
  ]
}

interface ServerLines {
  readonly names: string
  readonly mount: string
  /** Place of the mount in the file. */
  readonly where: string
  /** Expression of the server. Absent: the mount starts and stops with the framework. */
  readonly listening?: string
}

const LINES: Readonly<Record<ServerFramework, ServerLines>> = {
  express: {
    ...{ names: 'outbound, startOutbound', mount: 'app.use(outbound)', where: 'before express.json()' },
    listening: 'app.listen(3000)',
  },
  koa: {
    ...{ names: 'outbound, startOutbound', mount: 'app.use(outbound)', where: 'before a body parser' },
    listening: 'app.listen(3000)',
  },
  hono: {
    ...{ names: 'outbound, startOutbound', mount: "app.route('/', outbound)", where: 'before your own routes' },
    listening: 'serve({ fetch: app.fetch, port: 3000 })',
  },
  fastify: { names: 'outbound', mount: 'app.register(outbound)', where: 'before app.listen()' },
  node: {
    names: 'startOutbound, withOutbound',
    ...{ mount: 'const server = createServer(withOutbound(listener))', where: 'listener: your (req, res) => …' },
    listening: 'createServer(…)',
  },
}
