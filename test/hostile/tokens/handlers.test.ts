import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  handleDispatchWithDefaults,
  handleSessionRunBatchWithDefaults,
  handleSessionRunWithDefaults,
} from '../../../src/sallyport/defaults.ts'
import { watchStrayRejections } from '../../support/stray-rejections.ts'
import { type Asking, assertRow } from './asking.ts'
import { DOORS } from './callers.ts'
import { MATRIX } from './cells.ts'
import { ASKS } from './fault.ts'
import { app, type TestApp } from './test-app.ts'

let check: () => Promise<void>
beforeAll(() => {
  check = watchStrayRejections()
})
afterAll(() => check())

/** The handlers, with nothing around them. */
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

describe.each(MATRIX)('to $name a handler answers', (section) => {
  let asked: TestApp
  beforeAll(async () => {
    asked = await app(DOORS[section.door]?.(section.caller) ?? section.caller.verifier)
  })

  it.each(section.rows)('%s', async (_, fault) => {
    const { answers, throughAnyOf = answers } = fault
    await assertRow(fault, section.door === 'through anyOf' ? throughAnyOf : answers, asked, askHandlers(asked))
  })
})

it('asks this many questions', () => {
  const rows = MATRIX.flatMap((section) => section.rows)
  expect(rows.length * ASKS.length).toBe(14_120)
})
