import express from 'express'
import { type Mountable, toExpress } from '../../../src/adapters/express.ts'
import { HOST_ANSWER, HOST_ERROR, type Host, type HostOptions, listen, type RunningHost } from './host.ts'

export const express5Host: Host = expressHost('Express 5', express)

export function expressHost(name: string, framework: typeof express): Host {
  return {
    name,
    mounts: 'strips',
    errors: 'framework',
    parser: 'first',
    start: (sallyport, options) => start(framework, sallyport, options),
  }
}

function start(framework: typeof express, sallyport: Mountable, options: HostOptions = {}): Promise<RunningHost> {
  const { mountPath, parser, ...mount } = options
  const errors: unknown[] = []
  const app = framework()
  if (parser) app.use(framework.json())
  app.use(mountPath ?? '/', toExpress(sallyport, mount))
  app.post('/own/json', framework.json(), (req, res) => void res.json({ own: req.body }))
  app.use((_req, res) => void res.type('text').send(HOST_ANSWER))
  const onError: express.ErrorRequestHandler = (error, _req, res, _next) => {
    errors.push(error)
    res.sendStatus(error.status ?? HOST_ERROR)
  }
  app.use(onError)
  return listen(app, errors)
}
