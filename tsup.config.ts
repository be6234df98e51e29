import { readFileSync } from 'node:fs'
import type { Options } from 'tsup'

const { compilerOptions } = JSON.parse(readFileSync(new URL('tsconfig.json', import.meta.url), 'utf8'))
const paths = Object.entries<[string]>(compilerOptions.paths)

/** One bundle per entry of the package: `tsconfig.json` says which there are. */
const entry: Record<string, string> = Object.fromEntries(
  paths.map(([name, [file]]) => [name === 'sallyport' ? 'index' : name.replace('sallyport/', ''), file]),
)

const config: Options = {
  entry,
  format: 'esm',
  target: ['node20', 'es2023'],
  platform: 'node',
  // Runtimes other than Node know its modules by their prefix alone.
  removeNodeProtocol: false,
  splitting: true,
  sourcemap: true,
  clean: true,
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
}

export default config
