import { describe, expect, it } from 'vitest'
import { createConsole } from '../../src/console/index.ts'
import { cells, EVENT, host, IN_TABLES, type Proof, page, publicNames } from './comparing.ts'

/** Statements in its sentences. */
const IN_SENTENCES: Readonly<Record<string, Proof>> = {
  'Sallyport has a [console](console.md)': () => expect(createConsole).toBeTypeOf('function'),
  '[reads over HTTP](read-api.md)': async () => expect((await host().get('outbound/dispatches')).status).toBe(200),
  'a visual editor, in-app inbox or hosted version': () => expect(publicNames()).not.toMatch(/inbox|editor/i),
  'push or voice channels': () => expect(publicNames()).not.toMatch(/\b(?:push|voice)\b/i),
  'evaluations: a run is [one record]': () => expect(publicNames()).not.toMatch(/evaluation|prompt/i),
  'Ours reports what it stopped.': async () => {
    const { sallyport } = host()
    const { body } = await sallyport.dispatch(EVENT)
    const { dispatchId } = body as { readonly dispatchId: string }
    expect(await sallyport.dispatches.cancel(dispatchId)).toMatchObject({ cancelled: [{ channel: 'log' }] })
  },
  'Sallyport answers 422.': async () =>
    expect((await host().post('outbound/dispatch', { ...EVENT, eventType: 'unmapped' })).status).toBe(422),
}

describe('the comparison', () => {
  it('Each proof is of a statement of its tables', () => {
    expect(cells()).toEqual(expect.arrayContaining(Object.keys(IN_TABLES)))
  })

  it.each(Object.entries(IN_TABLES))('The table is right: %s', async (_, proof) => {
    await proof()
  })

  it.each(Object.entries(IN_SENTENCES))('The page is right: %s', async (sentence, proof) => {
    expect(page).toContain(sentence)
    await proof()
  })
})
