import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  handleDispatchWithDefaults,
  handleSessionRunBatchWithDefaults,
  handleSessionRunWithDefaults,
} from '../../../src/compose/defaults.ts'
import { watchStrayRejections } from '../../support/stray-rejections.ts'
import { type Asking, assertRow } from './asking.ts'
import { PLACEMENTS } from './callers.ts'
import { MATRIX } from './cells.ts'
import { ASKS } from './fault.ts'
import { app, type TestApp } from './test-app.ts'

let check: () => Promise<void>
beforeAll(() => {
  check = watchStrayRejections()
})
afterAll(() => check())

/** Calls the handlers directly. */
function askHandlers({ options }: TestApp): Asking {
  const handlers = {
    dispatch: handleDispatchWithDefaults,
    'dry run': handleDispatchWithDefaults,
    run: handleSessionRunWithDefaults,
    batch: handleSessionRunBatchWithDefaults,
  }
  return async (ask, request) => {
    const { status, headers, body } = await handlers[ask](request, options)
    return { status, headers, text: JSON.stringify(body) }
  }
}

describe.each(MATRIX)('the handlers, for $name', (section) => {
  let asked: TestApp
  beforeAll(async () => {
    asked = await app(PLACEMENTS[section.placement]?.(section.caller) ?? section.caller.verifier)
  })

  it.each(section.rows)(`The handlers answer as listed for ${section.name}, %s`, async (_, fault) => {
    const { answers, throughAnyOf = answers } = fault
    await assertRow(fault, section.placement === 'through anyOf' ? throughAnyOf : answers, asked, askHandlers(asked))
  })
})

it('The matrix sends 15,176 requests to the handlers', () => {
  const rows = MATRIX.flatMap((section) => section.rows)
  expect(rows.length * ASKS.length).toBe(15_176)
})
