/**
 * Files that need code of other people's which makes functions of texts, and whose that is. All others run where nothing can:
 * `--disallow-code-generation-from-strings`.
 */
export const MAKES_CODE: Readonly<Record<string, string>> = {
  'test/adapters/document.test.ts': 'depd, of Koa',
  'test/adapters/express.test.ts': 'depd, of Express 4',
  'test/adapters/koa.test.ts': 'depd, of Koa',
  'test/adapters/mount-hints.test.ts': 'depd, of Koa',
  'test/adapters/stopping.test.ts': 'depd, of Express 4 and Koa',
  'test/adapters/untouched.test.ts': 'depd, of Express 4 and Koa; find-my-way, of Fastify',
  'test/adapters/hosts/express.test.ts': 'depd, of Express 4',
  'test/adapters/hosts/fastify.test.ts': 'find-my-way, of Fastify',
  'test/adapters/hosts/koa.test.ts': 'depd, of Koa',
  'test/adapters/hosts/next.test.ts': 'Next',
  'test/docs/snippets.test.ts': 'depd, of Koa; find-my-way, of Fastify',
  'test/hostile/input/fuzz.test.ts': 'depd, of Koa',
  'test/openapi/*.test.ts': 'ajv, of the linter',
  'test/package/tree-shaking.test.ts': 'bundle-require, of tsup',
}
