import { execFile } from 'node:child_process'

/** The output and exit code of npm. */
export interface NpmAnswer {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/** Runs npm in a folder; a failure is a result too. */
export function npm(folder: string, ...args: readonly string[]): Promise<NpmAnswer> {
  return new Promise((resolve) => {
    execFile('npm', args, { cwd: folder, maxBuffer: 2 ** 28 }, (failure, stdout, stderr) => {
      resolve({ stdout, stderr: stderr || (failure?.message ?? ''), code: failure ? Number(failure.code) || 1 : 0 })
    })
  })
}
