import { describe, expect, it } from 'vitest'
import type { RunExporter } from '../../../src/ports/run-exporter.ts'
import { withoutStrayRejections } from '../../support/stray-rejections.ts'
import { recorder } from './recorder.ts'

describe('exporters', () => {
  it.each<[string, RunExporter]>([
    ['throws', { export: () => fail() }],
    ['rejects', { export: async () => fail() }],
    [
      'rejects later',
      { export: () => new Promise((_, reject) => setImmediate(() => reject(new RangeError('canary')))) },
    ],
    // biome-ignore lint/suspicious/noThenProperty: some libraries have promises of their own
    ['gives a promise of another kind that rejects', { export: () => ({ then: () => fail() }) as never }],
  ])('An exporter that %s is logged and changes nothing else', async (_, broken) => {
    const exported: string[] = []
    const whole: RunExporter = { export: async ({ runId }) => void exported.push(runId) }
    const { post, lines } = recorder({ exporters: [broken, whole] })
    await withoutStrayRejections(async () => {
      expect(await post({ runId: 'r1', status: 'failed' })).toMatchObject({ ok: true })
      await new Promise(setImmediate)
    })
    expect(exported).toEqual(['r1'])
    expect(lines).toEqual([
      { event: 'run.export_failed', fields: { runId: 'r1', cause: 'RangeError', stack: expect.any(String) } },
    ])
  })

  it("An application's end is exported after an end that only an agent reported", async () => {
    const exported: object[] = []
    const { post } = recorder({
      exporters: [{ export: ({ status, byAgent, counts }) => void exported.push({ status, byAgent, counts }) }],
    })
    await post({ runId: 'r1', counts: { inputTokens: 100 } })
    await post({ runId: 'r1', status: 'completed', counts: { inputTokens: 900 } }, { token: 's1' })
    await post({ runId: 'r1', status: 'cancelled', seq: 9 }, { token: 's1' })
    await post({ runId: 'r1', status: 'completed' })
    await post({ runId: 'r1', status: 'failed', seq: 9 })
    await post({ runId: 'r1', status: 'failed', seq: 10 }, { token: 's1' })
    const counts = { inputTokens: 100 }
    expect(exported).toEqual([
      { status: 'completed', byAgent: ['/status'], counts },
      { status: 'completed', byAgent: ['/seq'], counts },
    ])
  })
})

function fail(): never {
  throw new RangeError('canary')
}
