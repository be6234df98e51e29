import type { Plugin } from 'vitest/config'
import { buildConsole } from '../../tsup.config.ts'

const NAME = 'sallyport:console-assets'

/** Gives tests the console's files as the build does. */
export function consoleAssets(): Plugin {
  return {
    name: 'console-assets',
    enforce: 'pre',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    async load(id) {
      return id === `\0${NAME}` ? `export const CONSOLE_ASSETS = ${JSON.stringify(await buildConsole())}` : undefined
    },
  }
}
