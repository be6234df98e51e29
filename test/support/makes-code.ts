import { dirname } from 'node:path'
import { opensBrowser } from './parts.ts'

/**
 * Test files with dependencies that generate code from strings, and those dependencies. All other files run with
 * `--disallow-code-generation-from-strings`.
 */
export const MAKES_CODE: Readonly<Record<string, string>> = {
  'test/adapters/document.test.ts': 'depd, of Koa',
  'test/adapters/express.test.ts': 'depd, of Express 4',
  'test/adapters/koa.test.ts': 'depd, of Koa',
  'test/adapters/mount-hints.test.ts': 'depd, of Koa',
  'test/adapters/raw-bodies.test.ts': 'depd, of Express 4 and Koa; find-my-way, of Fastify',
  'test/adapters/stopping.test.ts': 'depd, of Express 4 and Koa',
  'test/adapters/untouched.test.ts': 'depd, of Express 4 and Koa; find-my-way, of Fastify',
  'test/adapters/hosts/express.test.ts': 'depd, of Express 4',
  'test/adapters/hosts/fastify.test.ts': 'find-my-way, of Fastify',
  'test/adapters/hosts/koa.test.ts': 'depd, of Koa',
  'test/adapters/hosts/next.test.ts': 'Next',
  'test/docs/snippets.test.ts': 'depd, of Koa; find-my-way, of Fastify',
  'test/hostile/floods/chunk-amplification.test.ts': 'depd, of Koa',
  'test/hostile/floods/odd-requests.test.ts': 'depd, of Koa',
  'test/hostile/input/fuzz.test.ts': 'depd, of Koa',
  'test/openapi/*.test.ts': 'ajv, of the linter',
  'test/package/tree-shaking.test.ts': 'bundle-require, of tsup',
  'test/plugins/together/*.test.ts': 'ajv, of the linter',
  'test/console/*.test.ts': 'depd, of Express and Koa',
}

const FOLDER = '/*.test.ts'

/** True if a test file needs to generate code from strings. */
export function makesCode(file: string): boolean {
  if (opensBrowser(file)) return true
  return Object.keys(MAKES_CODE).some((one) =>
    one.endsWith(FOLDER) ? dirname(file) === one.slice(0, -FOLDER.length) : file === one,
  )
}
