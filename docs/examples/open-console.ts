import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import express from 'express'
import type { Mountable } from 'sallyport/console'
import { toExpress } from 'sallyport/express'
import { close, listen, tell } from './peers.ts'

const BUILT = new URL('../../dist/console.js', import.meta.url)

/** Serves the console of the demo's host until Ctrl+C. Everyone on this machine may do everything: a real host asks its session. */
export async function openConsole(sallyport: Mountable): Promise<void> {
  // Its screens are built files: built again, they are those of this source.
  execFileSync('npx', ['tsup', '--no-dts', '--silent'], { stdio: 'inherit' })
  const { createConsole }: typeof import('sallyport/console') = await import(BUILT.href)
  const app = express().use('/ops', toExpress(createConsole(sallyport, { access: () => 'operate', title: 'The Shop' })))
  const server = createServer(app)
  tell.title(`Console: http://127.0.0.1:${await listen(server)}/ops/`)
  tell.line('Ctrl+C ends it.')
  await once(process, 'SIGINT')
  server.closeAllConnections()
  await close(server)
}
