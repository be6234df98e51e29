import { generateAppSecret } from 'sallyport/auth'
import { busyCallers } from '../../processes/busy-callers.ts'
import { idleSocket } from '../../processes/idle-socket.ts'
import { documented } from '../../support/documented.ts'
import { portOf, type RecipeProject, recipeProject } from '../../support/recipe-project.ts'
import { spread } from './measure.ts'

const PAGE = 'docs/operating.md'
const CLIENTS = 50
const ROUNDS = 3
const GRACES_MS = [2_000, 15_000]

/** The end of one host. */
interface Stopped {
  readonly seconds: number
  readonly losses: number
}

/** Time from SIGTERM to the exit of the guide's host in its own process, under requests on kept-alive connections. */
export async function benchStop(): Promise<void> {
  console.log(
    `\nStop: seconds from SIGTERM to the exit of a host with ${CLIENTS} busy keep-alive clients; requests lost`,
  )
  const project = await recipeProject()
  try {
    for (const graceMs of GRACES_MS) {
      const host = await writeHost(project, graceMs)
      for (const hasUnfinished of [false, true]) {
        const rounds: Stopped[] = []
        for (let round = 0; round < ROUNDS; round++) rounds.push(await stopped(project, host, hasUnfinished))
        const name = `grace ${graceMs / 1_000} s, ${hasUnfinished ? 'one request never ends' : 'all requests end'}`
        const most = Math.max(...rounds.map(({ seconds }) => seconds))
        const verdict =
          most <= graceMs / 1_000 + 1 ? 'within the grace and a second' : 'MORE than the grace and a second'
        const lost = rounds.reduce((sum, { losses }) => sum + losses, 0)
        console.log(`  ${name.padEnd(38)} ${spread(rounds.map(({ seconds }) => seconds))}, ${verdict}; ${lost} lost`)
      }
    }
  } finally {
    await project.remove()
  }
}

/** Writes the programs of the guide with this grace period; gives the file to start. */
async function writeHost(project: RecipeProject, graceMs: number): Promise<string> {
  const folder = `grace-${graceMs}`
  await project.write(`${folder}/outbound.js`, documented(PAGE, '// outbound.ts'))
  await project.write(`${folder}/storage.js`, documented(PAGE, 'export const storage = { store: memoryStore()'))
  const host = documented(PAGE, '// host.js').replace('GRACE_MS = 15_000', `GRACE_MS = ${graceMs}`)
  await project.write(`${folder}/host.js`, host)
  return `${folder}/host.js`
}

async function stopped(project: RecipeProject, file: string, hasUnfinished: boolean): Promise<Stopped> {
  const { secret } = await generateAppSecret({ env: 'bench' })
  const host = project.start(file, { APP_SECRET: secret })
  const port = await portOf(host)
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ eventType: 'order.placed', recipient: 'ada' })
  const callers = busyCallers(port, CLIENTS, [{ method: 'POST', path: '/api/outbound/dispatch', headers, body }])
  await callers.answered(3)
  const unfinished = hasUnfinished ? await idleSocket(port, 'POST /api/outbound/dispatch HTTP/1.1\r\nho') : undefined
  const since = performance.now()
  host.signal('SIGTERM')
  const [ended, { losses }] = await Promise.all([host.ended, callers.gone])
  const seconds = (performance.now() - since) / 1_000
  unfinished?.destroy()
  if (ended !== 0) throw new Error(`the host ended with ${ended}:\n${host.lines.join('\n')}`)
  return { seconds, losses: losses.length }
}
