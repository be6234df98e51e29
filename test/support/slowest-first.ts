import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { pathOf, turnOf } from './parts.ts'

/** Starts the slowest files first, so that none runs alone at the end. Files of one project follow each other, because they share processes. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const turns = new Map(sorted.map((file) => [file, turnOf(pathOf(file.moduleId))]))
    const turn = (file: TestSpecification): number => turns.get(file) ?? 0
    return sorted.sort((a, b) => a.project.name.localeCompare(b.project.name) || turn(a) - turn(b))
  }
}
