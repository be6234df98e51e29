import { dirname, join, relative, sep } from 'node:path'
import type { Command } from '../command.ts'
import { printable } from '../table.ts'
import { EXIT, type Terminal, UsageError } from '../terminal.ts'
import { installCommands } from './install-commands.ts'
import { newFiles } from './new-files.ts'
import { nextSteps } from './next-steps.ts'
import { FRAMEWORKS, readProject } from './project.ts'
import { STORES } from './storage-file.ts'
import { checkTarget, filesInTheWay, pathWithin } from './target.ts'
import { writeFiles } from './write-files.ts'

export const init: Command = {
  usage: '[--framework NAME] [--store NAME] [--dir DIR] [--print]',
  about: 'Write the first files of Sallyport into a project.',
  options: { framework: 'text', store: 'text', dir: 'text', print: 'flag' },
  help: [
    `--framework NAME  ${listed(FRAMEWORKS)} (default: the first of them in package.json, otherwise node)`,
    `--store NAME      ${listed(STORES)} (default: memory)`,
    '--dir DIR         folder of the new files (default: src if there is one, otherwise the current folder)',
    '--print           print the files, and write nothing',
    'Writes TypeScript if the project has it. Changes no file that exists.',
  ],
  async run(given, terminal) {
    const root = terminal.cwd
    const store = oneOf(STORES, 'store', given.text('store') ?? 'memory')
    const named = given.text('framework')
    const project = readProject(root, named === undefined ? undefined : oneOf(FRAMEWORKS, 'framework', named))
    const folder = pathWithin(root, given.text('dir') ?? (project.folder || '.'))

    const files = newFiles(project, store).map(({ name, text }) => ({
      path: join(folder, `${name}${project.extension}`),
      text,
    }))
    for (const { path } of files) checkTarget(root, path)
    const kept = files.filter(({ path }) => isInstrumentation(path) && filesInTheWay(root, path).length > 0)
    const missing = files.filter((file) => !kept.includes(file))
    const steps = nextSteps({
      ...{ project, store, hasInstrumentation: kept.length > 0 },
      installs: installCommands(root, project, store),
      mount: moduleFrom(project.folder, join(folder, 'outbound')),
    })

    if (given.flag('print')) {
      terminal.out(missing.map(({ path, text }) => `// ${shown(path)}\n${text}`).join('\n'))
      terminal.err(`\n${steps}`)
      return EXIT.done
    }
    const inTheWay = missing.flatMap(({ path }) => filesInTheWay(root, path))
    if (inTheWay.length > 0) return refused(inTheWay, terminal)
    writeFiles(root, missing)
    terminal.out(`Written for ${project.framework}, with the store ${store}:\n\n`)
    terminal.out(`${missing.map(({ path }) => `     ${shown(path)}\n`).join('')}\n${steps}`)
    return EXIT.done
  },
}

function refused(paths: readonly string[], terminal: Terminal): typeof EXIT.failed {
  terminal.err('sallyport: nothing was written, because these exist:\n')
  for (const path of paths) terminal.err(`  ${shown(path)}\n`)
  terminal.err('Give another folder with --dir, or print the files with --print.\n')
  return EXIT.failed
}

function oneOf<T extends string>(names: readonly T[], option: string, given: string): T {
  const found = names.find((name) => name === given)
  if (found === undefined) throw new UsageError(`--${option} must be one of ${listed(names)}`)
  return found
}

function listed(names: readonly string[]): string {
  return names.join(', ')
}

function isInstrumentation(path: string): boolean {
  return /(?:^|[\\/])instrumentation\.\w+$/.test(path)
}

/** Path by which a module in a folder imports another. */
function moduleFrom(folder: string, path: string): string {
  const from = shown(relative(folder, dirname(path)))
  return `${from.startsWith('..') ? '' : './'}${from === '' ? '' : `${from}/`}outbound`
}

/** A path for people and imports. */
function shown(path: string): string {
  return printable(path.split(sep).join('/'))
}
