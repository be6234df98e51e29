#!/usr/bin/env node
/** The command line: `npx sallyport`. */
import process from 'node:process'
import { runCommand } from './run-command.ts'
import type { ExitCode, Terminal } from './terminal.ts'

/** Exits although the host's module keeps connections open, and not before everything is written. */
function exit(code: ExitCode): void {
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

function terminal(): Terminal {
  const { env, stdout, stderr } = process
  return {
    env,
    cwd: process.cwd(),
    isInteractive: stdout.isTTY === true,
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
  }
}

void runCommand(process.argv.slice(2), terminal()).then(exit)
