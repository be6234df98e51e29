import { isSallyportError } from '../errors.ts'
import { readArguments } from './arguments.ts'
import type { Command } from './command.ts'
import { COMMANDS } from './commands.ts'
import { EXIT, type ExitCode, type Terminal, UsageError } from './terminal.ts'

/** Runs one command line. Never throws. */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [name, ...rest] = args
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') return help(rest[0], terminal)
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) return wrong(`there is no command ${JSON.stringify(name)}; see: npx sallyport help`, terminal)
  if (rest.includes('--help') || rest.includes('-h')) return help(name, terminal)
  try {
    const given = readArguments(rest, command.options)
    if (given.positionals.length > 0 && !command.takesIds) throw new UsageError(`${name} takes options only`)
    return await command.run(given, terminal)
  } catch (error) {
    if (error instanceof UsageError)
      return wrong(`${error.message}\nusage: npx sallyport ${name} ${command.usage}`, terminal)
    if (isSallyportError(error) && error.code === 'option_invalid') return wrong(error.message, terminal)
    terminal.err(`sallyport: ${error instanceof Error ? error.message : String(error)}\n`)
    return isSallyportError(error) && error.code === 'config_invalid' ? EXIT.notReady : EXIT.failed
  }
}

function wrong(text: string, terminal: Terminal): ExitCode {
  terminal.err(`sallyport: ${text}\n`)
  return EXIT.usage
}

function help(name: string | undefined, terminal: Terminal): ExitCode {
  const command: Command | undefined = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (name !== undefined && !command) return wrong(`there is no command ${JSON.stringify(name)}`, terminal)
  if (name !== undefined && command) {
    terminal.out(`${command.about}\n\nusage: npx sallyport ${name} ${command.usage}\n\n`)
    for (const line of command.help) terminal.out(`  ${line}\n`)
    return EXIT.done
  }
  terminal.out('usage: npx sallyport COMMAND [options]\n\n')
  for (const [each, { about }] of Object.entries(COMMANDS)) terminal.out(`  ${each.padEnd(8)} ${about}\n`)
  terminal.out(
    '\nnpx sallyport help COMMAND shows its options. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 store not ready.\n',
  )
  return EXIT.done
}
