import type { TestProject } from 'vitest/node'
import { SEED } from './properties.ts'
import { postgresPort, stopPostgres } from './shared-postgres.ts'

/** Called by vitest before the first test file, for each project. */
export async function setup({ name, config }: TestProject): Promise<void> {
  const { SALLYPORT_TEST_PART, SALLYPORT_PROPERTY_RUNS } = config.env ?? {}
  if (name === SALLYPORT_TEST_PART)
    console.log(`${name}: properties of seed ${SEED}, times ${SALLYPORT_PROPERTY_RUNS} of their examples`)
  process.env.SALLYPORT_TEST_POSTGRES_PORT = String(await postgresPort())
}

/** Called by vitest after the last test file. */
export const teardown: () => Promise<void> = stopPostgres
