import { readFileSync } from 'node:fs'
import { ROOT } from '../../support/entries.ts'

/** Commands of one package manager, from the table of the README. */
export interface Commands {
  /** `pnpm add`. */
  readonly install: string
  /** `node server.mjs`. */
  readonly start: string
  /** Installs the runner for TypeScript. */
  readonly addTypeScript: string
  /** `pnpm tsx server.mts`. */
  readonly startTypeScript: string
}

/** The quick start of the README. */
export interface QuickStart {
  /** `sallyport express valibot`. */
  readonly packages: string
  /** `server.mjs`. */
  readonly file: string
  /** `server.mts`. */
  readonly typescriptFile: string
  readonly code: string
  /** From the secret to the last request. */
  readonly shell: string
  readonly commands: ReadonlyMap<string, Commands>
}

/** Reads the quick start from the README. Throws if a part is missing. */
export function readQuickStart(): QuickStart {
  const readme = readFileSync(new URL('README.md', ROOT), 'utf8')
  const section = required(/^## Quick start\n(.*?)^## /ms.exec(readme)?.[1], 'the section')
  const [install, shell] = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text)
  const files = /^Save as `(.+?)`, or as `(.+?)` in TypeScript:$/m.exec(section)
  return {
    packages: required(/^npm install (.+)$/m.exec(install ?? '')?.[1], 'what to install'),
    file: required(files?.[1], 'the name of the file'),
    typescriptFile: required(files?.[2], 'the name of the file in TypeScript'),
    code: required(/^```ts\n(.*?)^```$/ms.exec(section)?.[1], 'the code'),
    shell: required(shell, 'the commands'),
    commands: new Map([...section.matchAll(/^\| (npm|pnpm|Yarn) \|(.+)\|$/gm)].map(commandsOf)),
  }
}

function commandsOf([, name = '', row = '']: RegExpExecArray): [string, Commands] {
  const [install, start, addTypeScript, startTypeScript] = [...row.matchAll(/`(.+?)`/g)].map(([, command]) => command)
  return [
    name,
    {
      install: required(install, `install, ${name}`),
      start: required(start, `start, ${name}`),
      addTypeScript: required(addTypeScript, `TypeScript, ${name}`),
      startTypeScript: required(startTypeScript, `start in TypeScript, ${name}`),
    },
  ]
}

function required(text: string | undefined, name: string): string {
  if (text === undefined) throw new Error(`the quick start of the README has no place for ${name}`)
  return text
}
