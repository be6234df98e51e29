import { createServer } from 'node:http'
import { H3, toNodeHandler } from 'h3'
import { type Mountable, toFetch } from '../../../src/adapters/fetch.ts'
import { NO_NEXT } from './fetch.ts'
import { HOST_ANSWER, type Host, type HostOptions, listen, type RunningHost } from './host.ts'

export const h3Host: Host = {
  name: 'h3 2',
  mounts: 'strips',
  errors: { sallyport: NO_NEXT },
  parser: 'first',
  own: { 'hands over no prefix of a mount': 'it makes a Request whose URL lacks the prefix' },
  start,
}

function start(sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const { mountPath, parser, ...mount } = options
  const handler = toFetch(sallyport, mount)
  const app = new H3()
  if (parser) app.use(async ({ req }) => void (req.body && (await req.clone().text())))
  if (mountPath) app.mount(mountPath, handler)
  else app.all(`${mount.basePath ?? ''}/api/**`, (event) => handler(event.req))
  app.post('/own/json', async ({ req }) => ({ own: await req.json() }))
  app.all('/**', () => HOST_ANSWER)
  return listen(createServer(toNodeHandler(app)))
}
