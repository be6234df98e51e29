/** A generator of TypeScript clients, which writes `client.ts`, or a folder `client`, into the folder it runs in. */
export interface Generator {
  readonly name: string
  /** Packages to install for a generator that is not a dependency. */
  readonly packages: readonly string[]
  /** Its program, by path from `node_modules`. */
  readonly program: string
  readonly args: readonly string[]
  readonly config?: { readonly file: string; readonly text: string }
  /** `false`: its own part of a client does not compile with `exactOptionalPropertyTypes`, for any document. */
  readonly isExact: boolean
  /** Mistakes that its types let pass. Default: none. */
  readonly misses?: readonly string[]
  /** Uses the generated client: dispatches, records a run and reads a problem. */
  readonly use: string
}

const SHIPPED = "{ eventType: 'order.shipped', recipient: 'user_42', eventData: { orderId: 'A-1', total: 20 } }"
const MISSPELT = "{ eventType: 'order.shiped', recipient: 'user_42' }"
const RECORDED =
  "{ sessionId: 's1', run: { runId: 'run_1', status: 'completed', counts: { inputTokens: 310, own_count: 3 } } }"

/** A mistake that the types must find, by the text that it replaces. */
export const MISTAKES: readonly (readonly [right: string, wrong: string])[] = [
  ['inputTokens: 310', "inputTokens: '310'"],
  ['own_count: 3', "own_count: '3'"],
  ["status: 'completed'", "status: 'done'"],
  ["recipient: 'user_42'", "recipients: 'user_42'"],
]

const PRINT_DELIVERIES =
  "for (const { channel, status, reason = 'no reason needed' } of shipped.data.deliveries) console.log(channel, status, reason)"
const SECRET = 'const authorization = "Bearer " + process.env.APP_SECRET'

/** A development dependency. */
export const OAZAPFTS: Generator = {
  name: 'oazapfts',
  packages: [],
  program: 'oazapfts/dist/cli.js',
  args: ['openapi.json', 'client.ts'],
  isExact: false,
  use: `
import { defaults, dispatch, recordRun } from './client.ts'
${SECRET}
defaults.headers = { authorization }
const shipped = await dispatch(${SHIPPED}, { idempotencyKey: 'oazapfts' })
if (shipped.status === 202) ${PRINT_DELIVERIES}
const recorded = await recordRun(${RECORDED})
if (recorded.status === 201) console.log(recorded.data.run?.status, recorded.data.run?.counts?.inputTokens)
const misspelt = await dispatch(${MISSPELT})
if (misspelt.status === 422 && misspelt.data.code === 'event_unknown') console.log(misspelt.data.status, misspelt.data.detail)
`,
}

export const ORVAL: Generator = {
  name: 'orval',
  packages: ['orval@8.38.0'],
  program: 'orval/dist/bin/orval.mjs',
  args: ['--config', 'orval.config.mjs'],
  config: {
    file: 'orval.config.mjs',
    text: `export default { sallyport: {
      input: './openapi.json',
      output: { target: './client.ts', client: 'fetch', baseUrl: { getBaseUrlFromSpecification: true } },
    } }`,
  },
  isExact: true,
  use: `
import { dispatch, recordRun } from './client.ts'
${SECRET}
const shipped = await dispatch(${SHIPPED}, {}, { headers: { authorization, 'Idempotency-Key': 'orval' } })
if (shipped.status === 202) ${PRINT_DELIVERIES}
const recorded = await recordRun(${RECORDED}, { headers: { authorization } })
if (recorded.status === 201) console.log(recorded.data.run?.status, recorded.data.run?.counts?.inputTokens)
const misspelt = await dispatch(${MISSPELT}, {}, { headers: { authorization } })
if (misspelt.status === 422 && misspelt.data.code === 'event_unknown') console.log(misspelt.data.status, misspelt.data.detail)
`,
}

export const HEY_API: Generator = {
  name: '@hey-api/openapi-ts',
  packages: ['@hey-api/openapi-ts@0.97.3', 'typescript@6.0.3'],
  program: '@hey-api/openapi-ts/bin/run.js',
  args: ['--file', 'openapi-ts.config.mjs'],
  config: {
    file: 'openapi-ts.config.mjs',
    text: `export default {
      input: './openapi.json',
      output: { path: './client', importFileExtension: '.js' },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    }`,
  },
  isExact: false,
  use: `
import { client } from './client/client.gen.js'
import { dispatch, recordRun } from './client/sdk.gen.js'
const { APP_SECRET = '' } = process.env
client.setConfig({ auth: APP_SECRET })
const shipped = await dispatch({ body: ${SHIPPED}, headers: { 'Idempotency-Key': 'hey-api' } })
if (shipped.data && 'dispatchId' in shipped.data) ${PRINT_DELIVERIES}
const recorded = await recordRun({ body: ${RECORDED} })
console.log(recorded.data?.run?.status, recorded.data?.run?.counts?.inputTokens)
const misspelt = await dispatch({ body: ${MISSPELT} })
if (misspelt.error?.code === 'event_unknown') console.log(misspelt.error.status, misspelt.error.detail)
`,
}

/** Its clients have no types for the data of a refused call, but export those of each status. */
export const KUBB: Generator = {
  name: 'kubb',
  packages: ['cli', 'core', 'plugin-oas', 'plugin-ts', 'plugin-client'].map((part) => `@kubb/${part}@4.39.3`),
  program: '@kubb/cli/bin/kubb.cjs',
  args: ['generate', '--config', 'kubb.config.mjs'],
  config: {
    file: 'kubb.config.mjs',
    text: `import { pluginClient } from '@kubb/plugin-client'
    import { pluginOas } from '@kubb/plugin-oas'
    import { pluginTs } from '@kubb/plugin-ts'
    const output = (path) => ({ path, barrelType: false })
    export default {
      root: '.',
      input: { path: './openapi.json' },
      output: { path: './client', extension: { '.ts': '.js' }, format: false, lint: false },
      plugins: [
        pluginOas({ generators: [] }),
        pluginTs({ output: output('models.ts') }),
        pluginClient({ output: output('calls.ts'), client: 'fetch', bundle: true, dataReturnType: 'full' }),
      ],
    }`,
  },
  isExact: false,
  misses: ['own_count: 3'],
  use: `
import { setConfig } from './client/.kubb/fetch.js'
import { dispatch, recordRun } from './client/calls.js'
import type { Dispatch422 } from './client/models.js'
${SECRET}
const { SALLYPORT_URL: baseURL = '' } = process.env
setConfig({ baseURL, headers: { authorization, 'Content-Type': 'application/json' } })
const shipped = await dispatch(${SHIPPED}, {}, { 'Idempotency-Key': 'kubb' })
if ('dispatchId' in shipped.data) ${PRINT_DELIVERIES}
const recorded = await recordRun(${RECORDED})
console.log(recorded.data.run?.status, recorded.data.run?.counts?.inputTokens)
const misspelt = await dispatch(${MISSPELT})
const problem = misspelt.data as unknown as Dispatch422
if (problem.code === 'event_unknown') console.log(problem.status, problem.detail)
`,
}
