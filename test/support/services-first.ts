import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { usesServices } from './parts.ts'

/** Starts the slowest files first, so that none runs alone at the end: those that wait for services. */
export class ServicesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isFirst = ({ moduleId }: TestSpecification) => usesServices(relative(this.ctx.config.root, moduleId))
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))]
  }
}
