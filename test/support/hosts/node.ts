import { Readable } from 'node:stream'
import { type Mountable, toNode } from '../../../src/adapters/node.ts'
import { HOST_ANSWER, HOST_ERROR, type Host, type HostOptions, listen, type RunningHost } from './host.ts'

export const nodeHost: Host = {
  name: 'node:http',
  mounts: { whole: 'a plain server has no mounts' },
  errors: 'framework',
  parser: 'first',
  start,
}

function start(sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const { parser, mountPath: _, ...mount } = options
  const errors: unknown[] = []
  const handler = toNode(sallyport, mount)
  return listen(async (req, res) => {
    const own = req.url === '/own/json'
    if ((parser || own) && req.headers['content-type']?.startsWith('application/json')) {
      const text = await new Response(Readable.toWeb(req)).text()
      try {
        Object.assign(req, { body: JSON.parse(text) })
      } catch {
        return void res.writeHead(400).end()
      }
    }
    await handler(req, res, (error) => {
      if (error) {
        errors.push(error)
        res.statusCode = HOST_ERROR
      }
      if (!own) return void res.end(HOST_ANSWER)
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify({ own: 'body' in req ? req.body : undefined }))
    })
  }, errors)
}
