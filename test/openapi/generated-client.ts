import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { ROOT } from '../support/entries.ts'

const TYPES = 'sallyport-api.ts'

const STRICT: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
}

/** A folder with the types generated from a document, in which programs are compiled and run. */
export class GeneratedClient {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async of(document: object): Promise<GeneratedClient> {
    const folder = mkdtempSync(join(tmpdir(), 'sallyport-client-'))
    symlinkSync(fileURLToPath(new URL('node_modules', ROOT)), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const types = astToString(await openapiTS(JSON.stringify(document), { silent: true }))
    writeFileSync(join(folder, TYPES), types)
    return new GeneratedClient(folder)
  }

  /** Compiler errors of each program and of the generated types. */
  faults(programs: readonly string[]): string[][] {
    const files = programs.map((program, index) => {
      const file = join(this.#folder, `program-${index}.ts`)
      writeFileSync(file, program)
      return file
    })
    const types = join(this.#folder, TYPES)
    const compilation = ts.createProgram([types, ...files], STRICT)
    const faultsIn = (file: string): string[] =>
      ts
        .getPreEmitDiagnostics(compilation, compilation.getSourceFile(file))
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    const ofTypes = faultsIn(types)
    return files.map((file) => [...ofTypes, ...faultsIn(file)])
  }

  async run(program: string): Promise<void> {
    const file = join(this.#folder, 'program.mjs')
    const { outputText } = ts.transpileModule(program, { compilerOptions: { ...STRICT, noEmit: false } })
    writeFileSync(file, outputText)
    await import(/* @vite-ignore */ pathToFileURL(file).href)
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}

/** The program in the guide. */
export function documentedProgram(): string {
  const guide = readFileSync(new URL('docs/openapi.md', ROOT), 'utf8')
  return /^```typescript\n(.*?)^```$/ms.exec(guide)?.[1] ?? ''
}
