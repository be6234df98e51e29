import { afterAll, vi } from 'vitest'

const { Request, Response, fetch } = globalThis

/** Test files of one process share its globals: each leaves them as it found them. `@hono/node-server` replaces classes. */
afterAll(() => {
  vi.useRealTimers().restoreAllMocks().unstubAllGlobals().unstubAllEnvs()
  Object.assign(globalThis, { Request, Response, fetch })
})
